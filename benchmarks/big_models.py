"""Makes models of the size of real ones, with weights from a fixed seed.

usage: big_models.py encoder|large|chain FILE

encoder: 12 layers as PyTorch exports them, LayerNormalization and GELU in single operators, 110
million parameters, 438 MB. large: the same, wider, 2.6 GB in an external file. chain: 100,000 nodes
one after the other over 768 channels.
"""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Encoder:
    """A stack of transformer layers, node by node as torch.onnx.export writes them."""

    def __init__(self, layers, width, inner, heads, vocabulary, positions=512):
        self.random = numpy.random.default_rng(0)
        self.width, self.heads, self.inner = width, heads, inner
        self.nodes, self.weights = [], []
        x = self.embedding(vocabulary, positions)
        mask = self.mask()
        for i in range(layers):
            x = self.layer(x, mask, f"/encoder/layer.{i}")
        first = self.node("Gather", [x, self.constant("first", numpy.int64(0))], "/pooler/Gather", axis=1)
        self.node("Tanh", [self.linear(first, width, width, "/pooler/dense")], "pooled")
        self.node("Identity", [x], "last")

    def weight(self, name, *shape, mean=0.0, sd=0.02):
        data = self.random.standard_normal(shape, dtype=numpy.float32)
        return self.constant(name, data * numpy.float32(sd) + numpy.float32(mean))

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def scalar(self, name, value):
        return self.constant(name, numpy.float32(value))

    def linear(self, x, rows, cols, name):
        y = self.node("MatMul", [x, self.weight(f"onnx::{name}/weight", rows, cols)], f"{name}/MatMul")
        return self.node("Add", [self.weight(f"{name}.bias", cols), y], f"{name}/Add")

    def norm(self, x, name):
        mean = self.node("ReduceMean", [x], f"{name}/ReduceMean", axes=[-1])
        centred = self.node("Sub", [x, mean], f"{name}/Sub")
        square = self.node("Pow", [centred, self.scalar(f"{name}/two", 2)], f"{name}/Pow")
        variance = self.node("ReduceMean", [square], f"{name}/ReduceMean_1", axes=[-1])
        shifted = self.node("Add", [variance, self.scalar(f"{name}/eps", 1e-12)], f"{name}/Add")
        root = self.node("Sqrt", [shifted], f"{name}/Sqrt")
        y = self.node("Div", [centred, root], f"{name}/Div")
        y = self.node("Mul", [y, self.weight(f"{name}.weight", self.width, mean=1.0)], f"{name}/Mul")
        return self.node("Add", [y, self.weight(f"{name}.bias", self.width)], f"{name}/Add_1")

    def gelu(self, x, name):
        y = self.node("Div", [x, self.scalar(f"{name}/root", 2 ** 0.5)], f"{name}/Div")
        y = self.node("Erf", [y], f"{name}/Erf")
        y = self.node("Add", [y, self.scalar(f"{name}/one", 1)], f"{name}/Add")
        y = self.node("Mul", [x, y], f"{name}/Mul")
        return self.node("Mul", [y, self.scalar(f"{name}/half", 0.5)], f"{name}/Mul_1")

    def embedding(self, vocabulary, positions):
        words = self.weight("word_embeddings", vocabulary, self.width)
        kinds = self.weight("token_type_embeddings", 2, self.width)
        places = self.weight("position_embeddings", positions, self.width)
        x = self.node("Gather", [words, "input_ids"], "/embeddings/words", axis=0)
        x = self.node("Add", [x, self.node("Gather", [kinds, "token_type_ids"], "/embeddings/kinds", axis=0)], "/embeddings/Add")
        at = self.constant("position_ids", numpy.arange(128, dtype=numpy.int64)[None])
        x = self.node("Add", [x, self.node("Gather", [places, at], "/embeddings/places", axis=0)], "/embeddings/Add_1")
        return self.norm(x, "/embeddings/LayerNorm")

    def mask(self):
        axes = self.constant("mask_axes", numpy.array([1, 2], numpy.int64))
        m = self.node("Unsqueeze", ["attention_mask", axes], "/Unsqueeze")
        m = self.node("Cast", [m], "/Cast", to=TensorProto.FLOAT)
        m = self.node("Sub", [self.scalar("one", 1), m], "/Sub")
        return self.node("Mul", [m, self.scalar("lowest", -10000.0)], "/Mul")

    def head(self, x, name, perm):
        y = self.linear(x, self.width, self.width, name)
        shape = self.constant(f"{name}/shape", numpy.array([0, 0, self.heads, self.width // self.heads], numpy.int64))
        y = self.node("Reshape", [y, shape], f"{name}/Reshape")
        return self.node("Transpose", [y], f"{name}/Transpose", perm=perm)

    def attention(self, x, mask, name):
        q = self.head(x, f"{name}/query", [0, 2, 1, 3])
        k = self.head(x, f"{name}/key", [0, 2, 3, 1])
        v = self.head(x, f"{name}/value", [0, 2, 1, 3])
        scores = self.node("MatMul", [q, k], f"{name}/MatMul")
        scale = self.scalar(f"{name}/scale", (self.width // self.heads) ** 0.5)
        scores = self.node("Add", [self.node("Div", [scores, scale], f"{name}/Div"), mask], f"{name}/Add")
        shares = self.node("Softmax", [scores], f"{name}/Softmax", axis=-1)
        y = self.node("Transpose", [self.node("MatMul", [shares, v], f"{name}/MatMul_1")], f"{name}/Transpose", perm=[0, 2, 1, 3])
        shape = self.constant(f"{name}/shape", numpy.array([0, 0, self.width], numpy.int64))
        return self.node("Reshape", [y, shape], f"{name}/Reshape")

    def layer(self, x, mask, name):
        y = self.attention(x, mask, f"{name}/attention/self")
        y = self.linear(y, self.width, self.width, f"{name}/attention/output/dense")
        x = self.norm(self.node("Add", [y, x], f"{name}/attention/output/Add"), f"{name}/attention/output/LayerNorm")
        y = self.gelu(self.linear(x, self.width, self.inner, f"{name}/intermediate/dense"), f"{name}/intermediate/gelu")
        y = self.linear(y, self.inner, self.width, f"{name}/output/dense")
        return self.norm(self.node("Add", [y, x], f"{name}/output/Add"), f"{name}/output/LayerNorm")

    def model(self):
        ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", 128])
               for n in ("input_ids", "attention_mask", "token_type_ids")]
        outputs = [helper.make_tensor_value_info("last", TensorProto.FLOAT, ["batch", 128, self.width]),
                   helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", self.width])]
        graph = helper.make_graph(self.nodes, "encoder", ids, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def encoder(path):
    onnx.save(Encoder(12, 768, 3072, 12, 30522).model(), path)


def large(path):
    model = Encoder(12, 2048, 8192, 16, 19000).model()
    data = os.path.basename(path) + ".data"
    if os.path.exists(path + ".data"):
        os.remove(path + ".data")
    onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=True, location=data)


def chain(path, n=100_000):
    nodes = []
    for i in range(n):
        op, extra = [("Add", ["k"]), ("Relu", []), ("Tanh", [])][i % 3]
        nodes.append(helper.make_node(op, [f"v{i}", *extra], [f"v{i + 1}"], name=f"n{i}"))
    ends = [helper.make_tensor_value_info(f"v{i}", TensorProto.FLOAT, ["N", 768]) for i in (0, n)]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], [helper.make_tensor("k", TensorProto.FLOAT, [1], [0.5])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    {"encoder": encoder, "large": large, "chain": chain}[sys.argv[1]](sys.argv[2])
