"""Writes what onnx.shape_inference finds for models, for graph/infer's corpus test to compare with.

    python benchmarks/infer_truth.py TRUTH.json MODEL_OR_DIR...
    AMPLINT_CORPUS=TRUTH.json go test -run Corpus -v ./graph/infer

A file is {model path: {"accepted": bool, "values": {key: [element type, [dimension or null, ...]]}}}; a key is the
value's name, after the path of its scope. "accepted" says whether the checker and onnxruntime take the model.
"""
import json
import pathlib
import sys

import onnx
import onnxruntime


def typed(info):
    t = info.type.tensor_type
    if not info.type.HasField("tensor_type"):
        return None
    dims = None
    if t.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
    return [t.elem_type, dims]


def collect(graph, path, values):
    for info in list(graph.value_info) + list(graph.output) + list(graph.input):
        t = typed(info)
        if t:
            values["/".join(path + [info.name])] = t
    for i, node in enumerate(graph.node):
        name = node.name or next(("#" + o for o in node.output if o), f"#{i}")
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                collect(a.g, path + [name, a.name], values)


def accepted(path, model):
    try:
        onnx.checker.check_model(model, full_check=True)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


def main(out, roots):
    truth = {}
    for root in map(pathlib.Path, roots):
        for path in [root] if root.is_file() else sorted(root.rglob("*.onnx")):
            model = onnx.load(path)
            entry = {"accepted": accepted(path, model), "values": {}}
            try:
                inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
                collect(inferred.graph, [], entry["values"])
            except Exception as e:
                entry["error"] = str(e)[:200]
            truth[str(path)] = entry
    pathlib.Path(out).write_text(json.dumps(truth))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
