"""Holds `amplint trace` against an emulator of low precision in Python, value by value.

    python benchmarks/agree_emulate.py --emulator DIR/emulate.py --amplint BINARY CASES [-v]

CASES holds folders with model.onnx, inputs.npz (trigger/NAME) and truth.json (mode, target). The emulator is a module
with Emu(model, target, acc, policy=) and compare(reference, emulated). Each case runs twice: sums in float32 and
results rounded ("store"), and sums rounded on the way ("low"). Compared are the first bad nodes of each kind, and all
values: an element may be off by one unit in the last place of the format its value is held in, and values of FLOAT by
1e-5 of the largest (the order of a sum is free there). A value whose operands differ already is counted as inherited:
one unit grows where values cancel.
"""
import argparse
import collections
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx

TARGETS = {"fp16": "f16", "bf16": "bf16", "fp8e4m3fn": "f8e4m3"}
KINDS = {"inf": "nonfinite", "nan": "nonfinite", "flush": "flush", "lossy": "lossy"}
# Bits behind the leading one, and the exponent of the least normal number.
GRIDS = {"fp16": (10, -14), "bf16": (7, -126), "fp8e4m3fn": (3, -6), "fp8e5m2": (2, -14)}


def load_module(path):
    sys.path.insert(0, str(pathlib.Path(path).parent))
    spec = importlib.util.spec_from_file_location("emulator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def operands(graph, prefix="", outer=()):
    """Yields (value key, operator, keys its node reads, each with its possible scopes)."""
    scopes = (prefix,) + outer
    for node in graph.node:
        key = node.name or "#" + next(o for o in node.output if o)
        for o in node.output:
            if o:
                yield prefix + o, node.op_type, [[s + i for s in scopes] for i in node.input if i]
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                yield from operands(a.g, f"{prefix}{key}/{a.name}/", scopes)


def decoded(array, fmt):
    """numpy has no types for these; an archive holds their bytes."""
    kinds = {"bf16": ml_dtypes.bfloat16, "fp8e4m3fn": ml_dtypes.float8_e4m3fn, "fp8e5m2": ml_dtypes.float8_e5m2}
    return array.view(kinds[fmt]) if array.dtype.kind in "VS" else array


def ours(binary, case, feeds, flags):
    with tempfile.TemporaryDirectory() as tmp:
        data, saved = f"{tmp}/in.npz", f"{tmp}/out.npz"
        np.savez(data, **feeds)
        base = [binary, "trace", str(case / "model.onnx"), "--data", data] + flags
        traced = subprocess.run(base + ["--all", "--format", "json"], capture_output=True)
        if not traced.stdout:
            traced.check_returncode()
        report = json.loads(traced.stdout)  # up to where the run stopped, if it did
        formats = {"/".join(v["path"] + [v["name"]]): v["format"] for v in report["values"]}
        wanted = [f"--value={k}" for k in formats]
        subprocess.run(base + ["--save", saved] + wanted, capture_output=True)
        with np.load(saved) as z:
            values = {k: decoded(z[k], formats[k]) for k in z.files if not k.endswith("@fp32")}
    first = {k: v and v["node"] for k, v in report["first"].items()}
    return first, formats, values


def units(a, b, fmt):
    """The largest difference in units in the last place; what is not finite must be the same."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return np.inf
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if fmt not in GRIDS:
        finite = np.isfinite(a) & np.isfinite(b)
        if (~finite & ~same).any():
            return np.inf
        return float(np.abs(a - b)[finite].max() / (1e-5 * max(np.abs(b[finite]).max(), 1e-30)))
    bits, least = GRIDS[fmt]
    with np.errstate(invalid="ignore"):
        _, e = np.frexp(np.maximum(np.abs(a), np.abs(b)))
        d = np.abs(a - b) / np.ldexp(1.0, np.maximum(e - 1, least) - bits)
    d[same] = 0
    return float(np.nan_to_num(d, nan=np.inf).max())


def compare_values(emulated, formats, values, reads, counts, verbose, name):
    differs = set()
    for key, mine in values.items():
        theirs = emulated.get(key)
        if not isinstance(theirs, np.ndarray) or key not in reads:
            continue
        off = units(mine, theirs, formats[key])
        if off > 0:
            differs.add(key)
        op, inputs = reads[key]
        inherited = any(k in differs for scopes in inputs for k in scopes[:1]) or "/" in key and differs
        kind = "same" if off == 0 else "one unit" if off <= 1 else "inherited" if inherited else "own"
        counts[kind] += 1
        if kind == "own":
            counts["own: " + op] += 1
            if verbose:
                print(f"  {name}: {key} ({op}, {formats[key]}) is off by {off:.4g} units")


def first_bad(emulator, reference, emulated):
    first = dict.fromkeys(["nonfinite", "flush", "lossy"])
    for node, kind, _ in emulator.compare(reference, emulated):
        kind = KINDS.get(kind)
        if kind and first[kind] is None:
            first[kind] = node
    return first


def run_case(args, emulator, case, acc, counts):
    truth = json.loads((case / "truth.json").read_text())
    model = onnx.load(case / "model.onnx")
    with np.load(case / "inputs.npz") as z:
        feeds = {k.removeprefix("trigger/"): z[k] for k in z.files if k.startswith("trigger/")}
    narrowed = truth["mode"] == "fp32-to-" + truth["target"]
    flags = ["--as", truth["target"] if narrowed else "fp32", "--accumulate", "target" if acc == "low" else "fp32"]
    first, formats, values = ours(args.amplint, case, feeds, flags)
    reference = emulator.Emu(str(case / "model.onnx"), "f32")
    reference.run(feeds)
    emulated = emulator.Emu(str(case / "model.onnx"), TARGETS[truth["target"]], "low" if acc == "low" else "f32",
                            policy="all" if narrowed else "declared")
    emulated.run(feeds)
    theirs = first_bad(emulator, reference, emulated)
    for kind, node in theirs.items():
        agree = node == first[kind]
        counts["first " + kind + (": same" if agree else ": other")] += 1
        if not agree and args.verbose:
            print(f"  {case.name} ({acc}): first {kind} is {first[kind]}, the emulator has {node}")
    reads = {key: (op, inputs) for key, op, inputs in operands(model.graph)}
    compare_values(emulated.values, formats, values, reads, counts, args.verbose, f"{case.name} ({acc})")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cases", type=pathlib.Path)
    p.add_argument("--emulator", required=True)
    p.add_argument("--amplint", required=True)
    p.add_argument("-v", "--verbose", action="store_true")
    args = p.parse_args()
    emulator = load_module(args.emulator)
    for acc in ["store", "low"]:
        counts = collections.Counter()
        for case in sorted(d for d in args.cases.iterdir() if (d / "truth.json").exists()):
            try:
                run_case(args, emulator, case, acc, counts)
            except subprocess.CalledProcessError as e:
                counts["failed"] += 1
                print(f"  {case.name}: {e.stderr.decode().strip()}")
        print(acc + ": " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items())))


if __name__ == "__main__":
    main()
