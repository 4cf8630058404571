"""Writes models that are almost what a pattern reads, for TestModelFolder to hold against their bounds.

usage: near_misses.py FOLDER OUT [--count 6000] [--seed 1]
       AMPLINT_MODELS=OUT AMPLINT_RUNS=16 go test ./rangeprop -run TestModelFolder -timeout 0
       AMPLINT_STORED=fp16 (or bf16, mixed) tries the same models rewritten to 16 bits.

Every model of OUT is one of FOLDER with one or two things changed: an edge, an operator, a constant,
an axis, a node put in between. What a rule of bounds says of the whole kind must not be said of these.
A NAME.json beside NAME.onnx holds the sizes and ranges of the inputs ({"inputs": {name: {"shape",
"type", "lo", "hi"}}}); half of the ranges are scaled or moved. Models that onnx's checker refuses are
not written. Needs onnx and numpy.
"""
import argparse
import glob
import json
import os
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.shape_inference import infer_shapes

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
LIKE = {  # what an operator may become
    "Add": "Sub Mul Max Min", "Sub": "Add Mul", "Mul": "Add Div Sub", "Div": "Mul Sub", "Max": "Min Add Mul",
    "Min": "Max Add", "ReduceSum": "ReduceMean ReduceMax ReduceMin ReduceL2 ReduceL1 ReduceSumSquare",
    "ReduceMean": "ReduceSum ReduceMax ReduceMin", "ReduceMax": "ReduceMin ReduceMean ReduceSum",
    "Exp": "Abs Relu Neg Sigmoid", "Log": "Relu Abs Neg", "Sqrt": "Abs Identity Relu",
    "Softmax": "LogSoftmax Sigmoid Identity", "LogSoftmax": "Softmax", "Relu": "Abs Neg Identity LeakyRelu",
    "Sigmoid": "Tanh HardSigmoid Relu", "Tanh": "Sigmoid Erf", "Erf": "Tanh Sigmoid", "Abs": "Neg Relu",
    "Neg": "Abs Identity", "Greater": "Less GreaterOrEqual", "Less": "Greater", "And": "Or Xor", "Or": "And",
    "Not": "Identity", "Equal": "Greater", "Clip": "Identity", "Floor": "Ceil Round", "Cos": "Sin", "Sin": "Cos",
}
UNARY = {"Identity", "Abs", "Neg", "Relu", "Sigmoid", "LeakyRelu"}
NUMBERS = [1e-6, 1e-3, 0.5, 0.9, 1, 1.1, 2, -1, -0.5, 3, 10, 100, -1e-3]


class Mutant:
    """A copy of a model that is changed step by step."""

    def __init__(self, model, rng):
        self.model, self.rng, self.graph = model, rng, model.graph
        self.nodes = list(model.graph.node)
        self.types = {t.name: (t.data_type, tuple(t.dims)) for t in self.graph.initializer}
        for v in [*self.graph.value_info, *self.graph.input, *self.graph.output]:
            if v.type.HasField("tensor_type"):
                t = v.type.tensor_type
                self.types[v.name] = t.elem_type, tuple(d.dim_value or -1 for d in t.shape.dim)

    def constant(self, value):
        name = f"changed{len(self.graph.initializer)}_{self.rng.randrange(10**6)}"
        self.graph.initializer.append(numpy_helper.from_array(np.float32(value), name))
        return name

    def change(self):
        node = self.rng.choice(self.nodes)
        how = self.rng.choice([self.edge] * 3 + [self.operator, self.insert, self.insert, self.number, self.axis, self.swap, self.repeat])
        how(node)

    def edge(self, node):
        """Reads another value that is there before the node, of the same type and a shape that fits."""
        k = self.rng.randrange(max(len(node.input), 1))
        old = self.types.get(node.input[k]) if node.input else None
        if old is None:
            return
        before = {v.name for v in self.graph.input} | {t.name for t in self.graph.initializer}
        for n in self.nodes[:self.nodes.index(node)]:
            before.update(n.output)
        fits = [v for v in sorted(before) if v in self.types and v != node.input[k] and self.meets(self.types[v], old)]
        if fits:
            node.input[k] = self.rng.choice(fits)

    @staticmethod
    def meets(a, b):
        broadcast = len(a[1]) == len(b[1]) and all(x == y or 1 in (x, y) for x, y in zip(a[1], b[1]))
        return a[0] == b[0] and (a[1] == b[1] or a[0] == FLOAT and broadcast)

    def operator(self, node):
        if node.op_type in LIKE:
            node.op_type = self.rng.choice(LIKE[node.op_type].split())
            if node.op_type in UNARY:
                del node.input[1:], node.attribute[:]

    def insert(self, node):
        """Puts a node in front of one input."""
        k = self.rng.randrange(max(len(node.input), 1))
        if not node.input or self.types.get(node.input[k], (0,))[0] != FLOAT:
            return
        old, new = node.input[k], f"between_{self.rng.randrange(10**9)}"
        op = self.rng.choice(["Neg", "Abs", "Relu", "Identity", "Exp", "Mul", "Add", "Div", "square", "double", "Clip"])
        inputs = [old]
        if op in ("Mul", "Add", "Div"):
            inputs.append(self.constant(self.rng.choice(NUMBERS)))
        elif op == "Clip":
            inputs += map(self.constant, sorted(self.rng.uniform(-2, 2) for _ in range(2)))
        elif op in ("square", "double"):
            op, inputs = {"square": "Mul", "double": "Add"}[op], [old, old]
        node.input[k] = new
        self.nodes.insert(self.nodes.index(node), helper.make_node(op, inputs, [new]))

    def number(self, _):
        """Changes a constant."""
        if not self.graph.initializer:
            return
        t = self.rng.choice(self.graph.initializer)
        a = numpy_helper.to_array(t).copy()
        if t.data_type == FLOAT and a.size:
            how = self.rng.choice(["scale", "negate", "add", "element"])
            if how == "element":
                a.flat[self.rng.randrange(a.size)] = self.rng.choice([0, 1, -1, 0.5, 2, 100])
            else:
                a = {"scale": a * self.rng.choice([0.5, 0.9, 1.01, 2, 10, 1e-3]), "negate": -a,
                     "add": a + self.rng.choice([1, -1, 0.1, 1e-3])}[how]
            t.CopyFrom(numpy_helper.from_array(a.astype(np.float32), t.name))
        elif t.data_type == INT64 and list(t.dims) == [1] and abs(int(a[0])) < 2**62:
            t.CopyFrom(numpy_helper.from_array(a + self.rng.choice([-1, 1]), t.name))

    def axis(self, node):
        for a in node.attribute:
            if a.name == "axis":
                a.i = self.rng.choice([0, 1, 2, -1, -2])
            elif a.name == "axes" and a.ints:
                a.ints[0] = self.rng.choice([0, 1, -1, -2])
            elif a.name == "keepdims" and self.rng.random() < 0.3:
                a.i = 1 - a.i

    def swap(self, node):
        if len(node.input) >= 2:
            node.input[0], node.input[1] = node.input[1], node.input[0]

    def repeat(self, node):
        if len(node.input) >= 2 and node.op_type in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Where", "MatMul"):
            a, b = self.rng.choice([(0, -1), (-1, 0)])
            node.input[a] = node.input[b]

    def done(self):
        """The model with its shapes inferred anew, None where it is none."""
        del self.graph.node[:], self.graph.value_info[:]
        self.graph.node.extend(self.nodes)
        for o in self.graph.output:
            o.type.tensor_type.ClearField("shape")
        try:
            model = infer_shapes(self.model, strict_mode=True)
            onnx.checker.check_model(model)
            return model
        except Exception:  # the checker raises several kinds
            return None


def mutate(model, rng):
    try:
        m = Mutant(infer_shapes(model, strict_mode=True), rng)
    except Exception:
        return None
    for _ in range(rng.choice([1, 1, 2])):
        m.change()
    return m.done()


def moved(inputs, rng):
    """Ranges that are scaled or moved to one side of 0, or not."""
    for h in inputs.values() if rng.random() < 0.5 else []:
        if h["type"].startswith("float"):
            scale, to = rng.choice([0.1, 1, 1, 3]), rng.choice([0, 0, 0, h["hi"], -h["hi"]])
            h["lo"], h["hi"] = (h["lo"] + to) * scale, (h["hi"] + to) * scale
    return inputs


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("out")
    p.add_argument("--count", type=int, default=6000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    rng = random.Random(a.seed)
    kinds = {}
    for path in sorted(glob.glob(os.path.join(a.folder, "*.onnx"))):
        hints = json.load(open(path[:-5] + ".json"))
        kinds.setdefault(hints.get("kind", path), []).append((path, hints))
    if not kinds:
        p.error(f"no models with hints in {a.folder}")
    os.makedirs(a.out, exist_ok=True)
    written = tried = 0
    while written < a.count and tried < 8 * a.count:
        tried += 1
        path, hints = rng.choice(kinds[rng.choice(sorted(kinds))])
        model = mutate(onnx.load(path), rng)
        if model is None:
            continue
        name = os.path.join(a.out, f"{written:05d}_{os.path.basename(path)[:-5]}")
        onnx.save(model, name + ".onnx")
        inputs = moved(json.loads(json.dumps(hints["inputs"])), rng)
        json.dump({"inputs": inputs}, open(name + ".json", "w"))
        written += 1
    print(f"{written} models of {tried} tried, of {len(kinds)} kinds")


if __name__ == "__main__":
    main()
