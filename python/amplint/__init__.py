"""Find and fix what low precision breaks in an ONNX model.

    findings = amplint.check("model.onnx", target="fp16", ranges={"input": (-2.64, 2.64)})
    low = amplint.fix(model, target="fp16", data={"input": samples})

Options are the flags of the command line (amplint check --help) with underscores.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple, Union

from ._binary import FINDINGS, AmplintError, FixRefused, UsageError, run
from ._findings import Finding, Fix, Node, Place, Source, finding
from ._staging import Data, Model, data_paths, model_path

if TYPE_CHECKING:
    import onnx

__all__ = ["AmplintError", "Finding", "Fix", "FixRefused", "Node", "Place", "Source", "UsageError", "check", "fix"]

Ranges = Mapping[str, Tuple[float, float]]
Dims = Mapping[str, Union[int, Tuple[int, int]]]
Option = Union[str, int, float, bool, "os.PathLike[str]", Sequence[str], None]


def check(
    model: Model,
    *,
    target: Optional[str] = None,
    ranges: Optional[Ranges] = None,
    dims: Optional[Dims] = None,
    data: Optional[Data] = None,
    **options: Option,
) -> List[Finding]:
    """Returns what breaks in a model when it runs in the target's format.

    model is a path (a folder stands for all models below it), the bytes of a model or a ModelProto.
    ranges and dims say what inputs and symbolic dimensions may be, data are samples: paths, or
    arrays by the names of the inputs. Findings that the config ignores or the baseline has are left
    out. Raises UsageError and AmplintError.
    """
    with tempfile.TemporaryDirectory(prefix="amplint-") as folder:
        report = os.path.join(folder, "report.json")
        flags = _flags(folder, target, ranges, dims, data, options)
        run(["check", "--format", "json", "-o", report, *flags, "--", model_path(model, folder)])
        with open(report, encoding="utf-8") as f:
            models = json.load(f)["models"]
    return [finding(m["path"], x) for m in models for x in m["findings"]]


def fix(
    model: Model,
    *,
    target: Optional[str] = None,
    ranges: Optional[Ranges] = None,
    dims: Optional[Dims] = None,
    data: Optional[Data] = None,
    output: Optional["Union[str, os.PathLike[str]]"] = None,
    **options: Option,
) -> "onnx.ModelProto":
    """Returns the model rewritten so that it is right in the target's format.

    The arguments are those of check; output is a path that the model is kept at, with its external
    data beside it. Needs the package onnx. Raises FixRefused where findings would remain, UsageError
    and AmplintError.
    """
    try:
        import onnx
    except ImportError as e:
        raise ImportError("amplint.fix returns an onnx.ModelProto: pip install onnx") from e
    with tempfile.TemporaryDirectory(prefix="amplint-") as folder:
        result = os.path.join(folder, "result", "model.onnx")
        os.mkdir(os.path.dirname(result))
        path = result if output is None else os.fspath(output)
        flags = _flags(folder, target, ranges, dims, data, options)
        code, told = run(["fix", "--format", "json", "-o", path, *flags, "--", model_path(model, folder)])
        if code == FINDINGS:
            raise FixRefused(told.strip(), code)
        return onnx.load(path)


def _flags(
    folder: str,
    target: Optional[str],
    ranges: Optional[Ranges],
    dims: Optional[Dims],
    data: Optional[Data],
    options: Mapping[str, Option],
) -> "list[str]":
    flags = []
    if target is not None:
        flags += ["--target", target]
    for name, (lo, hi) in (ranges or {}).items():
        flags += ["--range", f"{name}={float(lo)!r},{float(hi)!r}"]
    for name, size in (dims or {}).items():
        lo, hi = (size, size) if isinstance(size, int) else size
        flags += ["--dim", f"{name}={lo}..{hi}"]
    if data is not None:
        for path in data_paths(data, folder):
            flags += ["--data", path]
    for name, value in options.items():
        if name == "keep_io_types" and isinstance(value, (list, tuple)):  # one list, not a flag for each
            value = ",".join(value)
        flags += _flag("--" + name.replace("_", "-"), value)
    return flags


def _flag(name: str, value: Any) -> "list[str]":
    if value is None:
        return []
    if isinstance(value, bool):
        return [f"{name}={str(value).lower()}"]
    if isinstance(value, (list, tuple)):
        return [word for v in value for word in (name, os.fspath(v))]
    return [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
