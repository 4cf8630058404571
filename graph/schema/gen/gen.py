#!/usr/bin/env python3
"""Writes onnx.schema and contrib.schema beside this folder; with --check says whether they are fresh.

onnx.schema holds every version of every operator of the onnx package, contrib.schema the operators that
onnxruntime adds. The format is described in the package comment of ../doc.go. Needs onnx and onnxruntime.
"""

import argparse
import pathlib
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort

FOLDER = pathlib.Path(__file__).resolve().parent.parent

# The domains of onnxruntime that stand in files: what exporters and its optimiser write. Its NHWC copies of
# the standard's operators (com.ms.internal.nhwc) exist in memory alone.
CONTRIB_DOMAINS = {"", "com.microsoft", "com.microsoft.nchwc"}

ELEMENTS = {
    "float": "f", "float16": "h", "bfloat16": "b", "double": "d",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "int2": "i2", "int4": "i4", "uint2": "u2", "uint4": "u4",
    "bool": "bool", "string": "str", "complex64": "c64", "complex128": "c128",
    "float8e4m3fn": "e4m3fn", "float8e4m3fnuz": "e4m3fnuz", "float8e5m2": "e5m2", "float8e5m2fnuz": "e5m2fnuz",
    "float8e8m0": "e8m0", "float4e2m1": "e2m1", "float6e2m3": "e2m3", "float6e3m2": "e3m2",
}

# The kinds of a type, in the order in which they are written; the pattern's last group is the element.
KINDS = [
    ("", r"tensor\((\w+)\)"),
    ("seq", r"seq\(tensor\((\w+)\)\)"),
    ("opt", r"optional\(tensor\((\w+)\)\)"),
    ("optseq", r"optional\(seq\(tensor\((\w+)\)\)\)"),
    ("sparse", r"sparse_tensor\((\w+)\)"),
    ("map", r"map\((\w+), ?(?:tensor\()?(\w+)\)*"),
    ("seqmap", r"seq\(map\((\w+), ?(?:tensor\()?(\w+)\)*"),
]

ATTRIBUTE_TYPES = {
    "FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "SPARSE_TENSOR": "p", "TYPE_PROTO": "y",
    "FLOATS": "F", "INTS": "I", "STRINGS": "S", "TENSORS": "T", "GRAPHS": "G", "SPARSE_TENSORS": "P",
    "TYPE_PROTOS": "Y",
}


def split_type(spelling):
    """Returns (rank of the kind, its code, the element's code) of one type of the standard."""
    for rank, (kind, pattern) in enumerate(KINDS):
        found = re.fullmatch(pattern, spelling)
        if found:
            codes = [ELEMENTS[name] for name in found.groups()]
            return rank, ".".join([kind] + codes[:-1]), codes[-1]
    raise ValueError(f"unknown type {spelling!r}")


def type_set(spellings):
    """Writes a set of types, grouped by kind: f,h;seq:f,h."""
    order = list(ELEMENTS.values())
    groups = {}
    for rank, kind, element in map(split_type, set(spellings)):
        groups.setdefault((rank, kind), []).append(element)
    written = []
    for (_, kind), elements in sorted(groups.items()):
        elements = ",".join(sorted(elements, key=order.index))
        written.append(f"{kind}:{elements}" if kind else elements)
    return ";".join(written)


def word(name):
    """Returns the name, which must hold none of the format's own signs."""
    if not re.fullmatch(r"[A-Za-z_][\w./-]*", name):
        raise ValueError(f"odd name {name!r}")
    return name


def parameter(name, spelling, option, homogeneous, least, variables):
    """Writes one input or output: name:type and how often it may occur."""
    kind = word(spelling) if spelling in variables else "=" + type_set([spelling])
    if option == "Variadic":
        return f"{word(name)}:{kind}{'*' if homogeneous else '~'}{least}"
    return f"{word(name)}:{kind}{'?' if option == 'Optional' else ''}"


def escape(text):
    """Replaces the signs that the format needs for itself by %XX."""
    return re.sub(r"[^!-$&-+\--~]", lambda sign: f"%{ord(sign[0]):02X}", text)


def number(value):
    """Writes a float32 with the fewest digits that give it back."""
    return str(np.float32(value))


def default(value):
    """Writes the default of an attribute, or nothing where it has none."""
    kinds = onnx.AttributeProto
    writers = {
        kinds.FLOAT: lambda: number(value.f),
        kinds.INT: lambda: str(value.i),
        kinds.STRING: lambda: escape(value.s.decode()),
        kinds.FLOATS: lambda: ",".join(map(number, value.floats)),
        kinds.INTS: lambda: ",".join(map(str, value.ints)),
        kinds.STRINGS: lambda: ",".join(escape(s.decode()) for s in value.strings),
        kinds.UNDEFINED: lambda: None,
    }
    written = writers[value.type]()
    return "" if written is None else "=" + written


def attribute(attr):
    """Writes one attribute: name:type, then ! for required or =default."""
    value = attr.default_value if hasattr(attr, "default_value") else onnx.AttributeProto.FromString(attr._default_value)
    code = ATTRIBUTE_TYPES[attr.type.name]
    return f"{word(attr.name)}:{code}{'!' if attr.required else default(value)}"


def onnx_parameters(formal, variables):
    for p in formal:
        yield parameter(p.name, p.type_str, p.option.name, p.is_homogeneous, p.min_arity, variables)


def ort_parameters(formal, least, variables):
    """onnxruntime hides the minimum of a variadic parameter; it is what the operator's minimum leaves for it."""
    for i, p in enumerate(formal):
        yield parameter(p.name, p.typeStr, p.option.name, p.isHomogeneous, max(0, least - i), variables)


def line(schema, flags, inputs, outputs):
    """Writes one operator version; equal to what ../parse.go reads."""
    constraints = [f"{word(c.type_param_str)}={type_set(c.allowed_type_strs)}" for c in schema.type_constraints]
    attributes = [attribute(a) for _, a in sorted(schema.attributes.items())]
    lists = [inputs, outputs, sorted(constraints), attributes]
    head = [schema.domain, schema.name, f"{schema.since_version:03d}", flags]
    return "\t".join(head + [" ".join(items) for items in lists])


def variables_of(schema):
    return {c.type_param_str for c in schema.type_constraints}


def onnx_lines():
    for s in onnx.defs.get_all_schemas_with_history():
        flags = ("d" if s.deprecated else "") + ("f" if s.has_function or s.has_context_dependent_function else "")
        variables = variables_of(s)
        yield line(s, flags, onnx_parameters(s.inputs, variables), onnx_parameters(s.outputs, variables))


def contrib_lines():
    standard = {(s.domain, s.name, s.since_version) for s in onnx.defs.get_all_schemas_with_history()}
    for s in ort.get_all_operator_schema():
        if s.domain not in CONTRIB_DOMAINS or (s.domain, s.name, s.since_version) in standard:
            continue
        variables = variables_of(s)
        inputs = ort_parameters(s.inputs, s.min_input, variables)
        outputs = ort_parameters(s.outputs, s.min_output, variables)
        yield line(s, "d" if s.deprecated else "", inputs, outputs)


def texts():
    """Returns the wanted content of each file by its name."""
    generated = "by gen/gen.py; do not edit. Format: doc.go"
    return {
        "onnx.schema": f"# Written from onnx {onnx.__version__} {generated}\n" + "".join(
            f"{text}\n" for text in sorted(onnx_lines())),
        "contrib.schema": f"# Written from onnxruntime {onnxruntime.__version__} {generated}\n" + "".join(
            f"{text}\n" for text in sorted(contrib_lines())),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file is stale")
    check = parser.parse_args().check
    stale = False
    for name, text in texts().items():
        path = FOLDER / name
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        stale = True
        if check:
            print(f"{name} is stale: it begins {old[:60]!r}, wanted {text[:60]!r}; run go generate", file=sys.stderr)
        else:
            path.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
