"""Builds a wheel for every platform, around a file that is no program, and reads them as pip does."""

import base64
import csv
import hashlib
import io
import pathlib
import sys
import tempfile
import unittest
import zipfile

from pip._vendor.packaging.utils import parse_wheel_filename

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import wheel as builder  # noqa: E402


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel(unittest.TestCase):
    def build(self, platform):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        out = pathlib.Path(folder.name)
        (out / "binary").write_bytes(b"no program")
        return out / builder.build("1.2.3", platform, out / "binary", out)

    def test_platforms(self):
        for platform in builder.TAGS:
            with self.subTest(platform):
                path = self.build(platform)
                name, version, _, tags = parse_wheel_filename(path.name)
                self.assertEqual((name, str(version)), ("amplint", "1.2.3"))
                z = zipfile.ZipFile(path)
                info = "amplint-1.2.3.dist-info/"
                rows = list(csv.reader(io.StringIO(z.read(info + "RECORD").decode())))
                self.assertEqual({r[0] for r in rows}, set(z.namelist()))
                for file, want, size in rows:
                    if want:
                        self.assertEqual((want, int(size)), (digest(z.read(file)), len(z.read(file))))
                said = {line.split()[1] for line in z.read(info + "WHEEL").decode().splitlines() if line.startswith("Tag:")}
                self.assertEqual(said, {str(t) for t in tags})
                exe = "amplint/bin/amplint" + (".exe" if platform.startswith("windows") else "")
                self.assertEqual(z.getinfo(exe).external_attr >> 16 & 0o777, 0o755)
                self.assertIn("amplint/py.typed", z.namelist())

    def test_same_bytes(self):
        self.assertEqual(self.build("linux/amd64").read_bytes(), self.build("linux/amd64").read_bytes())


if __name__ == "__main__":
    unittest.main()
