"""Writes models that are almost what a pattern reads, for TestModelFolder to hold against their bounds.

usage: near_misses.py FOLDER OUT [--count 6000] [--seed 1] [--changes 2] [--cross 0.2] [--resize 0.1]
       AMPLINT_MODELS=OUT AMPLINT_RUNS=16 go test ./rangeprop -run TestModelFolder -timeout 0
       AMPLINT_STORED=fp16 (or bf16, mixed) tries the same models rewritten to 16 bits.

Every model of OUT is one of FOLDER with one to --changes things changed: an edge, an operator, a constant,
an axis, an attribute, a node put in between. A share of them (--cross) runs into another model of FOLDER
first, and a share (--resize) has an axis of size 1 or 0. What a rule of bounds says of the whole kind must
not be said of these. A NAME.json beside NAME.onnx holds the sizes and ranges of the inputs ({"inputs":
{name: {"shape", "type", "lo", "hi"}}}), which are scaled, moved or taken to an end in three of four; FOLDER
holds such pairs, or the node tests of the standard (NAME/model.onnx and NAME/test_data_set_0). Models that
onnx's checker refuses are not written. Needs onnx and numpy.
"""
import argparse
import copy
import glob
import json
import os
import random

import numpy as np
import onnx
from onnx import numpy_helper

from near_changes import cross, mutate, resize, settled

LARGEST = {"float16": 65504.0, "float32": 3.4028234663852886e38, "bfloat16": 3.3895313892515355e38}


def read(path):
    """A model, what its inputs take, and what those take that are not drawn."""
    model = onnx.load(path)
    if os.path.exists(path[:-5] + ".json"):
        return model, json.load(open(path[:-5] + ".json"))["inputs"], {}
    inputs, data = {}, {}
    for i, v in enumerate(model.graph.input):
        file = os.path.join(os.path.dirname(path), "test_data_set_0", f"input_{i}.pb")
        if not os.path.exists(file) or not v.type.HasField("tensor_type"):
            continue
        t = onnx.TensorProto()
        t.ParseFromString(open(file, "rb").read())
        x = numpy_helper.to_array(t)
        if onnx.TensorProto.DataType.Name(t.data_type) in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"):
            finite = x.astype(np.float64)[np.isfinite(x.astype(np.float64))]
            lo, hi = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 1.0)
            inputs[v.name] = {"shape": list(x.shape), "type": str(x.dtype), "lo": lo, "hi": hi}
        elif x.dtype.kind in "biu":
            data[v.name] = x
    return model, inputs, data


def moved(inputs, rng):
    """Ranges that are scaled or moved to one side of 0, taken to an end of what a float holds, or not."""
    how = rng.random()
    for h in inputs.values():
        if "float" not in h["type"] or how < 0.25:
            continue
        most, size = LARGEST.get(h["type"], 1e300), max(abs(h["lo"]), abs(h["hi"]))
        if how < 0.7:
            scale, to = rng.choice([0.1, 1, 1, 3]), rng.choice([0, 0, 0, h["hi"], -h["hi"]])
            h["lo"], h["hi"] = (h["lo"] + to) * scale, (h["hi"] + to) * scale
        elif rng.random() < 0.6:
            x = rng.uniform(h["lo"], h["hi"])
            h["lo"], h["hi"] = rng.choice([(x, x), (0, 0), (0, size), (-size, 0), (-2 * size - 1, -size), (size, most), (-most, 0),
                                           (-most, most), (-1e-6, 1e-6), (-1e-30, 1e-30), (1e-30, 1e-29), (1e-12, size), (-size, -1e-12)])
        h["lo"], h["hi"] = sorted(min(max(h[k], -most), most) for k in ("lo", "hi"))
    return inputs


def one(sources, rng, a):
    """A model with its inputs, None where a change made none of it."""
    path, other = (rng.choice(sources[rng.choice(sorted(sources))]) for _ in range(2))
    model, inputs, data = read(path)
    if rng.random() < a.cross:
        more, hints, extra = read(other)
        made = cross(model, more, inputs, hints, rng)
        if made is None:
            return None
        model, inputs = made
        data = {"a_" + k: x for k, x in data.items()} | {"b_" + k: x for k, x in extra.items()}
    inputs = copy.deepcopy(inputs)
    if rng.random() < a.resize:
        resize(model, inputs, rng, rng.choice([1, 1, 0]))
        model = settled(model)
    model = model and mutate(model, rng, a.changes)
    if model and not any(n.op_type == "Range" for n in model.graph.node):  # no memory holds what others may ask for
        inputs = moved(inputs, rng)
    return model and (path, model, inputs, data)


def sources_of(folder):
    """The models of a folder by their kind."""
    kinds = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        kinds.setdefault(json.load(open(path[:-5] + ".json")).get("kind", path), []).append(path)
    for path in sorted(glob.glob(os.path.join(folder, "*", "model.onnx"))):
        kinds[path] = [path]
    return kinds


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("out")
    p.add_argument("--count", type=int, default=6000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--changes", type=int, default=2)
    p.add_argument("--cross", type=float, default=0.2)
    p.add_argument("--resize", type=float, default=0.1)
    a = p.parse_args()
    rng, sources = random.Random(a.seed), sources_of(a.folder)
    if not sources:
        p.error(f"no models with hints in {a.folder}")
    os.makedirs(a.out, exist_ok=True)
    written = tried = 0
    while written < a.count and tried < 8 * a.count:
        tried += 1
        made = one(sources, rng, a)
        if made is None:
            continue
        path, model, inputs, data = made
        source = os.path.basename(os.path.dirname(path)) if path.endswith("/model.onnx") else os.path.basename(path)[:-5]
        name = os.path.join(a.out, f"{written:05d}_{source}")
        onnx.save(model, name + ".onnx")
        json.dump({"inputs": inputs}, open(name + ".json", "w"))
        if data:
            np.savez(name + ".npz", **data)
        written += 1
    print(f"{written} models of {tried} tried, of {len(sources)} kinds")


if __name__ == "__main__":
    main()
