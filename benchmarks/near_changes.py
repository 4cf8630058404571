"""What near_misses.py does to a model: one step away from what it was, or into another model."""
import numpy as np
import onnx
from onnx import compose, helper, numpy_helper
from onnx.shape_inference import infer_shapes

FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, onnx.TensorProto.DOUBLE}
INT64 = onnx.TensorProto.INT64
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
FLAGS = {"keepdims", "ceil_mode", "count_include_pad", "exclude_outside", "transA", "transB", "exclusive", "reverse",
         "is_causal", "linear_before_reset", "select_last_index", "noop_with_empty_axes", "training_mode", "largest"}


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

    def constant(self, value, elem):
        name = f"changed{len(self.graph.initializer)}_{self.rng.randrange(10**6)}"
        dtype = helper.tensor_dtype_to_np_dtype(elem)
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(value).astype(dtype), name))
        return name

    def change(self):
        node = self.rng.choice(self.nodes)
        how = self.rng.choice([self.edge] * 3 + [self.insert] * 2 + [self.operator, self.number, self.axis, self.attribute, self.swap, self.repeat])
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
        return a[0] == b[0] and (a[1] == b[1] or a[0] in FLOATS and broadcast)

    def operator(self, node):
        if node.op_type in LIKE:
            node.op_type = self.rng.choice(LIKE[node.op_type].split())
            if node.op_type in UNARY:
                del node.input[1:], node.attribute[:]

    def insert(self, node):
        """Puts a node in front of one input."""
        k = self.rng.randrange(max(len(node.input), 1))
        elem = self.types.get(node.input[k], (0,))[0] if node.input else 0
        if elem not in FLOATS:
            return
        old, new = node.input[k], f"between_{self.rng.randrange(10**9)}"
        op = self.rng.choice(["Neg", "Abs", "Relu", "Identity", "Exp", "Mul", "Add", "Div", "square", "double", "Clip"])
        inputs = [old]
        if op in ("Mul", "Add", "Div"):
            inputs.append(self.constant(self.rng.choice(NUMBERS), elem))
        elif op == "Clip":
            inputs += [self.constant(c, elem) for c in sorted(self.rng.uniform(-2, 2) for _ in range(2))]
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
        if t.data_type in FLOATS and a.size:
            how = self.rng.choice(["scale", "negate", "add", "element"])
            b = a.astype(np.float64)
            if how == "element":
                b.flat[self.rng.randrange(a.size)] = self.rng.choice([0, 1, -1, 0.5, 2, 100])
            else:
                b = {"scale": b * self.rng.choice([0.5, 0.9, 1.01, 2, 10, 1e-3]), "negate": -b,
                     "add": b + self.rng.choice([1, -1, 0.1, 1e-3])}[how]
            with np.errstate(over="ignore"):
                t.CopyFrom(numpy_helper.from_array(b.astype(a.dtype), t.name))
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

    def attribute(self, node):
        """Changes a number that a node is given: an ε that is 0 or less, a slope, a pad, a flag."""
        if not node.attribute:
            return
        a = self.rng.choice(node.attribute)
        if a.type == onnx.AttributeProto.FLOAT:
            a.f = self.rng.choice([0, -a.f, 2 * a.f, 1e-12, *NUMBERS])
        elif a.type == onnx.AttributeProto.INT and a.name in FLAGS:
            a.i = 1 - a.i
        elif a.type == onnx.AttributeProto.INTS and a.ints and a.name != "perm":
            k = self.rng.randrange(len(a.ints))
            a.ints[k] = max(a.ints[k] + self.rng.choice([-1, 1, 2]), 0)

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
        return settled(self.model)


def settled(model):
    """The model with its shapes inferred anew, None where it is none."""
    del model.graph.value_info[:]
    for o in model.graph.output:
        if o.type.HasField("tensor_type"):
            o.type.tensor_type.ClearField("shape")
    try:
        model = infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        return model
    except Exception:  # the checker raises several kinds
        return None


def mutate(model, rng, changes):
    try:
        m = Mutant(infer_shapes(model, strict_mode=True), rng)
    except Exception:
        return None
    for _ in range(rng.randint(1, changes)):
        m.change()
    return m.done()


def resize(model, inputs, rng, size):
    """Gives every axis of the inputs that has one size, or one name, another size."""
    axes = {}
    for v in model.graph.input:
        for k, d in enumerate(v.type.tensor_type.shape.dim if v.name in inputs else []):
            axes.setdefault(d.dim_param or d.dim_value, []).append((v.name, k, d))
    if axes:
        for name, k, d in rng.choice(sorted(axes.items(), key=str))[1]:
            inputs[name]["shape"][k] = size
            if not d.dim_param:
                d.dim_value = size


def cross(a, b, inputs, more, rng):
    """Feeds an output of a into an input of b, one of its size where there is any; None where none fits."""
    if {o.domain: o.version for o in a.opset_import} != {o.domain: o.version for o in b.opset_import}:
        return None
    a, b = compose.add_prefix(a, "a_"), compose.add_prefix(b, "b_")
    b.ir_version = a.ir_version = max(a.ir_version, b.ir_version)
    for model, hints in ((a, inputs), (b, more)):
        for v in model.graph.input:
            for d, n in zip(v.type.tensor_type.shape.dim, hints.get(v.name[2:], {"shape": []})["shape"]):
                d.dim_value = n
    a = settled(a)
    if a is None or not a.graph.output:
        return None
    out = rng.choice(a.graph.output)
    shape, elem = shape_of(out), out.type.tensor_type.elem_type
    into = [v for v in b.graph.input if v.type.tensor_type.elem_type == elem in FLOATS and 0 not in (shape or [0]) + shape_of(v)]
    if not into:
        return None
    same = [v for v in into if shape_of(v) == shape]
    v = rng.choice(same or into)
    name = out.name if same else reshaped(a, out.name, shape, shape_of(v))
    if not same:
        a.graph.output.append(helper.make_tensor_value_info(name, elem, None))
    try:
        joined = compose.merge_models(a, b, io_map=[(name, v.name)])
    except Exception:  # the checker raises several kinds
        return None
    hints = {"a_" + k: h for k, h in inputs.items()} | {"b_" + k: h for k, h in more.items() if "b_" + k != v.name}
    model = settled(joined)
    return model and (model, hints)


def shape_of(v):
    return [d.dim_value for d in v.type.tensor_type.shape.dim]


def reshaped(model, name, old, new):
    """Repeats a value, or cuts it off, so that it has another shape."""
    def step(op, name, *lists):
        inputs = [name]
        for x in lists:
            inputs.append(f"c{len(model.graph.initializer)}")
            model.graph.initializer.append(numpy_helper.from_array(np.array(x, np.int64), inputs[-1]))
        model.graph.node.append(helper.make_node(op, inputs, [f"{op}_{len(model.graph.node)}"]))
        return model.graph.node[-1].output[0]
    n, m = int(np.prod(old)), int(np.prod(new))
    if n != m:
        name = step("Reshape", name, [-1])
        if n < m:
            name = step("Tile", name, [-(-m // n)])
        name = step("Slice", name, [0], [m])
    return step("Reshape", name, new)
