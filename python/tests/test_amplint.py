"""Tests of the installed package, on models that onnx makes here. Run by TestWheel in python_test.go."""

import gzip
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import amplint
from amplint import _staging


def model(k=300.0, ranges=None, extra=()):
    """y = x k + b: overflows float16 for |x| of 300."""
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "k"], ["p"], name="scale"), helper.make_node("Add", ["p", "b"], ["y"], name="shift")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
        [numpy_helper.from_array(np.float32(k), "k"), numpy_helper.from_array(np.ones(4, np.float32), "b"), *extra],
    )
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for name, text in (ranges or {}).items():
        m.metadata_props.add(key=f"amplint.range.{name}", value=text)
    return m


def overflows(findings):
    return [f for f in findings if f.severity == "error" and f.kind == "overflow"]


class Check(unittest.TestCase):
    def test_finding(self):
        found = overflows(amplint.check(model(), target="fp16", ranges={"x": (-300, 300)}))
        self.assertEqual(len(found), 1)
        f = found[0]
        self.assertEqual(f.node.name, "scale")
        self.assertEqual(f.node.outputs, ("p",))
        self.assertEqual(f.range, (-90000.0, 90000.0))
        self.assertEqual(f.limit, 65504.0)
        self.assertTrue(f.fixes and f.fixes[0].description)
        self.assertIn("scale", str(f))
        with self.assertRaises(AttributeError):
            f.rule = "other"

    def test_source(self):
        m = model(ranges={"x": "[-300,300]"})
        self.assertIsNone(overflows(amplint.check(m))[0].source)
        trace = '  File "/src/net.py", line 7, in forward\n    y = self.scale(x)\n'
        m.graph.node[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value=trace)
        source = overflows(amplint.check(m))[0].source
        self.assertEqual((source.file, source.line), ("/src/net.py", 7))

    def test_every_form_of_a_model(self):
        m = model(ranges={"x": "[-300,300]"})
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d) / "m.onnx"
            onnx.save(m, path)
            packed = pathlib.Path(d) / "m.onnx.gz"
            packed.write_bytes(gzip.compress(m.SerializeToString()))
            for form in (m, m.SerializeToString(), path, str(path), packed):
                self.assertEqual(len(overflows(amplint.check(form))), 1, type(form))
            self.assertEqual(len(overflows(amplint.check(d))), 2)  # both files
            self.assertEqual({f.model for f in amplint.check(d)}, {str(path), str(packed)})

    def test_unbounded(self):
        notes = [f for f in amplint.check(model()) if f.rule == "unknown-range"]
        self.assertEqual(notes[0].range, (-math.inf, math.inf))

    def test_data(self):
        samples = {"x": np.full((2, 4), 299, np.float32)}
        self.assertEqual(len(overflows(amplint.check(model(), data=samples))), 1)
        self.assertEqual(overflows(amplint.check(model(), data={"x": samples["x"] / 100})), [])
        with tempfile.TemporaryDirectory() as d:
            np.savez(os.path.join(d, "a.npz"), **samples)
            for data in (os.path.join(d, "a.npz"), [os.path.join(d, "a.npz")], d):
                self.assertEqual(len(overflows(amplint.check(model(), data=data))), 1)

    def test_options(self):
        m = model(ranges={"x": "[-300,300]"})
        self.assertEqual(overflows(amplint.check(m, target="bf16")), [])
        self.assertTrue(amplint.check(m, strict=True, effort="off", flush_subnormals=True, dims={"N": (1, 8)}))
        self.assertTrue(amplint.check(m, dims={"N": 4}, baseline=None))

    def test_errors(self):
        with self.assertRaisesRegex(amplint.UsageError, "unknown target"):
            amplint.check(model(), target="fp12")
        with self.assertRaisesRegex(ValueError, "no input"):
            amplint.check(model(), ranges={"nosuch": (0, 1)})
        with self.assertRaisesRegex(amplint.AmplintError, "not a readable") as caught:
            amplint.check(b"no model")
        self.assertEqual(caught.exception.exit_code, 3)
        with self.assertRaisesRegex(TypeError, "a model is a path"):
            amplint.check(3)


class FixTest(unittest.TestCase):
    def test_fix(self):
        m = model(ranges={"x": "[-300,300]"})
        before = m.SerializeToString()
        low = amplint.fix(m, target="fp16", keep_io_types=["x"])
        self.assertIsInstance(low, onnx.ModelProto)
        onnx.checker.check_model(low, full_check=True)
        self.assertEqual(m.SerializeToString(), before)
        self.assertEqual(overflows(amplint.check(low, target="as-is")), [])

    def test_output(self):
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d) / "low.onnx"
            low = amplint.fix(model(k=2.0, ranges={"x": "[-1,1]"}), output=path, keep_io_types=False)
            self.assertEqual(onnx.load(path).SerializeToString(), low.SerializeToString())
            self.assertEqual(low.graph.input[0].type.tensor_type.elem_type, TensorProto.FLOAT16)

    def test_refused(self):
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, [4]) for name in "xy"]
        graph = helper.make_graph([helper.make_node("Mul", ["x", "x"], ["y"])], "g", values[:1], values[1:])
        m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        with self.assertRaisesRegex(amplint.FixRefused, "1 finding would remain") as caught:
            amplint.fix(m, ranges={"x": (1000, 2000)})  # the output itself cannot hold it
        self.assertEqual(caught.exception.exit_code, 1)

    def test_large(self):
        """A model that protobuf cannot write as one message goes to the binary with external data."""
        weight = numpy_helper.from_array(np.full((64, 64), 2, np.float32), "w")
        m = model(k=2.0, ranges={"x": "[-1,1]"}, extra=[weight])
        m.graph.node[0].input[1] = "k2"
        m.graph.node.insert(0, helper.make_node("ReduceMax", ["w"], ["k2"], keepdims=0))
        before = m.SerializeToString()
        saved = []
        with mock.patch.object(_staging, "LARGE", 1000):
            with mock.patch("onnx.save_model", side_effect=onnx.save_model) as save:
                low = amplint.fix(m, keep_io_types=False)
                saved = save.call_args_list
        self.assertEqual(len(saved), 1)
        self.assertEqual(m.SerializeToString(), before)
        onnx.checker.check_model(low)
        self.assertFalse([t for t in low.graph.initializer if t.data_location == TensorProto.EXTERNAL])

    def test_external_data_elsewhere(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "m.onnx")
            m = model(extra=[numpy_helper.from_array(np.ones((64, 64), np.float32), "w")])
            onnx.save_model(m, path, save_as_external_data=True)
            with self.assertRaisesRegex(ValueError, "pass the path of the model"):
                amplint.check(onnx.load(path, load_external_data=False))
            self.assertEqual(len(overflows(amplint.check(path, ranges={"x": (-300, 300)}))), 1)


class CommandLine(unittest.TestCase):
    def test_module_and_script(self):
        script = os.path.join(os.path.dirname(sys.executable), "amplint")
        for command in ([sys.executable, "-m", "amplint"], [script]):
            p = subprocess.run([*command, "version"], capture_output=True, text=True)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertRegex(p.stdout, r"^amplint \d+\.\d+\.\d+$")
            self.assertEqual(subprocess.run([*command, "nosuch"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
