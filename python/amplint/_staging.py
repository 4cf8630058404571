"""Puts models and data where the binary can read them."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union

if TYPE_CHECKING:
    import onnx

Model = Union[str, "os.PathLike[str]", bytes, "onnx.ModelProto"]
Data = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], Mapping[str, Any]]

# Protobuf writes no message of 2 GiB or more. Below it a model is one file; the margin is for what
# grows when it is written.
LARGE = 2**31 - 2**24
EXTERNAL = 1  # TensorProto.EXTERNAL


def model_path(model: Model, folder: str) -> str:
    """Returns the path of a model, which is written to the folder where it is none yet."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    path = pathlib.Path(folder) / "model.onnx"
    if isinstance(model, (bytes, bytearray, memoryview)):
        path.write_bytes(model)
        return str(path)
    if not hasattr(model, "SerializeToString"):
        raise TypeError(f"a model is a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    _write_proto(model, path)
    return str(path)


def _write_proto(model: "onnx.ModelProto", path: pathlib.Path) -> None:
    for tensor in _tensors(model.graph):
        if tensor.data_location == EXTERNAL:
            raise ValueError(
                f"tensor {tensor.name!r} has external data, and a ModelProto does not tell where they lie: "
                "pass the path of the model, or load it with its external data"
            )
    if model.ByteSize() < LARGE:
        path.write_bytes(model.SerializeToString())
        return
    import onnx

    # Saving moves the data out of the tensors, so that is done to a copy.
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    onnx.save_model(
        copy, str(path), save_as_external_data=True, all_tensors_to_one_file=True, location=path.name + ".data", convert_attribute=True
    )


def _tensors(graph: Any) -> Iterator[Any]:
    """Yields the tensors of a graph and of those inside its nodes."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("g"):
                yield from _tensors(attribute.g)
            for inner in attribute.graphs:
                yield from _tensors(inner)


def data_paths(data: Data, folder: str) -> "list[str]":
    """Returns the paths of samples. Arrays by name are one sample, and written to the folder."""
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)]
    if not isinstance(data, Mapping):
        return [os.fspath(path) for path in data]
    import numpy as np

    path = os.path.join(folder, "data.npz")
    with open(path, "wb") as f:
        # savez takes names as keywords, and one of its own parameters may be a model's input.
        import zipfile

        with zipfile.ZipFile(f, "w") as z:
            for name, array in data.items():
                with z.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    return [path]
