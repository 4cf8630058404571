"""Finds the binary and runs it."""

from __future__ import annotations

import os
import pathlib
import subprocess
from typing import Sequence

FINDINGS, USAGE = 1, 2  # exit codes; all above are failures of the model


class AmplintError(Exception):
    """A model that could not be read or analysed. `exit_code` is that of the command line."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(AmplintError, ValueError):
    """An option that is not right, or does not fit the model."""


class FixRefused(AmplintError):
    """A model that no edit makes right: findings would remain."""


def path() -> str:
    """Returns the path of the binary; the environment variable AMPLINT_BINARY names another one."""
    override = os.environ.get("AMPLINT_BINARY")
    if override:
        return override
    name = "amplint.exe" if os.name == "nt" else "amplint"
    binary = pathlib.Path(__file__).parent / "bin" / name
    if not binary.exists():
        raise FileNotFoundError(f"{binary}: this installation of amplint carries no binary for this platform")
    if not os.access(binary, os.X_OK):  # an installer that lost the mode
        binary.chmod(0o755)
    return str(binary)


def run(args: Sequence[str]) -> tuple[int, str]:
    """Runs the binary. Returns the exit code, 0 or 1, and what it told on stderr."""
    p = subprocess.run([path(), *args], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
    if p.returncode > FINDINGS or p.returncode < 0:
        told = p.stderr.strip() or f"amplint ended with {p.returncode}"
        raise (UsageError if p.returncode == USAGE else AmplintError)(told, p.returncode)
    return p.returncode, p.stderr
