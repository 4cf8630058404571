"""Builds a wheel that carries the binary of one platform. Pure Python, no network, the same bytes each time.

    python scripts/wheel.py --version 0.1.0 --platform linux/amd64 --binary ./amplint --out dist

Prints the name of the wheel.
"""

import argparse
import base64
import hashlib
import pathlib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "amplint"

# The binary is static, so any Linux will do; macOS 12 is the oldest that Go builds for.
TAGS = {
    "linux/amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux/arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin/amd64": ["macosx_12_0_x86_64"],
    "darwin/arm64": ["macosx_12_0_arm64"],
    "windows/amd64": ["win_amd64"],
    "windows/arm64": ["win_arm64"],
}

METADATA = """\
Metadata-Version: 2.1
Name: amplint
Version: {version}
Summary: Find and fix what low precision breaks in an ONNX model
Home-page: https://github.com/amplint/amplint
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: onnx
Requires-Dist: onnx; extra == "onnx"
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: amplint scripts/wheel.py
Root-Is-Purelib: false
{tags}"""

ENTRY_POINTS = """\
[console_scripts]
amplint = amplint.__main__:main
"""


def files(version, platform, binary):
    """Yields the files of the wheel but for RECORD: name, bytes, whether it is executable."""
    for path in sorted(PACKAGE.glob("*")):
        if path.suffix in (".py", ".typed"):
            yield f"amplint/{path.name}", path.read_bytes(), False
    exe = "amplint.exe" if platform.startswith("windows/") else "amplint"
    yield f"amplint/bin/{exe}", binary.read_bytes(), True
    info = f"amplint-{version}.dist-info"
    readme = (ROOT / "python" / "README.md").read_text(encoding="utf-8")
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in TAGS[platform])
    yield f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes(), False
    yield f"{info}/METADATA", METADATA.format(version=version, readme=readme).encode(), False
    yield f"{info}/WHEEL", WHEEL.format(tags=tags).encode(), False
    yield f"{info}/entry_points.txt", ENTRY_POINTS.encode(), False


def record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def build(version, platform, binary, out):
    """Writes the wheel into a folder and returns its name."""
    name = f"amplint-{version}-py3-none-{'.'.join(TAGS[platform])}.whl"
    rows = ""
    with zipfile.ZipFile(out / name, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data, executable in files(version, platform, binary):
            add(z, path, data, executable)
            rows += record(path, data)
        path = f"amplint-{version}.dist-info/RECORD"
        add(z, path, (rows + f"{path},,\n").encode(), False)
    return name


def add(z, path, data, executable):
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3  # Unix, so that pip sets the mode
    info.external_attr = (0o100755 if executable else 0o100644) << 16
    z.writestr(info, data, zipfile.ZIP_DEFLATED)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--version", required=True)
    args.add_argument("--platform", required=True, choices=sorted(TAGS))
    args.add_argument("--binary", required=True, type=pathlib.Path)
    args.add_argument("--out", required=True, type=pathlib.Path)
    args = args.parse_args()
    print(build(args.version, args.platform, args.binary, args.out))


if __name__ == "__main__":
    main()
