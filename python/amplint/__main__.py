"""The command line: the binary, in place of this process where that can be."""

import os
import subprocess
import sys

from ._binary import path


def main() -> int:
    """Runs the binary with the arguments of this process and returns its exit code."""
    command = [path(), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)
    try:
        return subprocess.run(command).returncode
    except KeyboardInterrupt:  # the binary had it, too
        return 130


if __name__ == "__main__":
    sys.exit(main())
