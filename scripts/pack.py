"""Packs a folder into an archive that is the same whenever and wherever it is packed.

    python scripts/pack.py FOLDER ARCHIVE      # by its end .tar.gz or .zip

Names are sorted, times are those of the first day that both formats know, owners are nobody.
"""

import gzip
import io
import pathlib
import sys
import tarfile
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)
EPOCH_SECONDS = 315532800


def members(folder):
    """Yields the files of a folder: name in the archive, bytes, whether it is executable."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = (pathlib.PurePosixPath(folder.name) / path.relative_to(folder).as_posix()).as_posix()
        yield name, path.read_bytes(), path.name in ("amplint", "amplint.exe")


def write_zip(folder, out):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data, executable in members(folder):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = 3  # Unix, so that the mode counts
            info.external_attr = (0o755 if executable else 0o644) << 16
            z.writestr(info, data, zipfile.ZIP_DEFLATED)


def write_tar(folder, out):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for name, data, executable in members(folder):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(data), EPOCH_SECONDS, 0o755 if executable else 0o644
            t.addfile(info, io.BytesIO(data))
    with open(out, "wb") as f, gzip.GzipFile("", "wb", fileobj=f, mtime=0) as z:
        z.write(raw.getvalue())


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    (write_zip if out.endswith(".zip") else write_tar)(folder, out)


if __name__ == "__main__":
    main()
