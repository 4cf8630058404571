"""Checks that onnx.checker accepts what package graph writes wherever it accepts the original.

usage: reencode.py FOLDER...

Every model below the folders is edited in four ways by TestCorpusReencoded of package graph. The
results go through onnx.checker; those of which only the encoding or the doc string of one node
changed are compared with the original field by field, and tensors element by element.
"""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

import onnx
from onnx import numpy_helper

# An empty string may be present or absent; no reader of ONNX tells the two apart. So with an empty type.
EMPTY = re.compile(r'^ *((doc_string|domain|name|producer_name|producer_version): ""\n|type \{\n *\}\n)', re.M)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def accepted(model):
    try:
        onnx.checker.check_model(model)
        return None
    except Exception as e:  # the checker raises several kinds
        return str(e).strip().splitlines()[0]


def tensors(graph):
    yield from graph.initializer
    for n in graph.node:
        for a in n.attribute:
            yield from ([a.t] if a.HasField("t") else [])
            yield from a.tensors
            for g in ([a.g] if a.HasField("g") else []) + list(a.graphs):
                yield from tensors(g)


def plain(model, fresh):
    """The model as text, without what the edit may change."""
    for f in list(model.functions) + [model.graph]:
        for n in f.node:
            n.doc_string = ""
    if fresh:  # fields that no edit needs are not decoded, so they are not written anew
        for name in ("doc_string", "domain", "model_version", "training_info"):
            model.ClearField(name)
        model.graph.ClearField("quantization_annotation")
        for t in tensors(model.graph):
            if t.data_type != onnx.TensorProto.STRING:
                raw = numpy_helper.to_array(t).tobytes()
                dims, elem, name, doc = list(t.dims), t.data_type, t.name, t.doc_string
                t.Clear()
                t.dims.extend(dims)
                t.data_type, t.name, t.doc_string, t.raw_data = elem, name, doc, raw
    text = str(model)
    return EMPTY.sub("", text) if fresh else text


def main():
    with tempfile.TemporaryDirectory() as out:
        env = dict(os.environ, AMPLINT_CORPUS=":".join(sys.argv[1:]), AMPLINT_CORPUS_OUT=out)
        subprocess.run(["go", "test", "-count=1", "-run", "TestCorpusReencoded", "./graph"], cwd=ROOT, env=env, check=True)
        seen, bad = Counter(), 0
        for line in open(os.path.join(out, "index.tsv"), encoding="utf-8"):
            kind, path, name = line.rstrip("\n").split("\t")
            original, edited = onnx.load(path, load_external_data=False), onnx.load(name, load_external_data=False)
            before, after = accepted(original), accepted(edited)
            seen[kind, "accepted" if before is None else "refused before as well" if after else "refused before only"] += 1
            if before is None and after is not None:
                bad += 1
                print(f"{kind}: {path}: {after}")
            if kind in ("touched", "fresh") and plain(original, kind == "fresh") != plain(edited, kind == "fresh"):
                bad += 1
                print(f"{kind}: {path}: not the same model")
        for (kind, verdict), n in sorted(seen.items()):
            print(f"{kind:10} {verdict:24} {n}")
        print(f"{bad} bad")
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
