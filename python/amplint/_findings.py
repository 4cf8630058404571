"""What a check returns, as the JSON report has it."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Node:
    """Where a finding stands. `key` is empty for one on an input or on the whole model."""

    key: str
    name: str
    op: str
    domain: str
    index: int
    path: Tuple[str, ...]
    outputs: Tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Place:
    """One of several places that a finding stands for."""

    key: str
    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class Fix:
    """An edit that helps."""

    kind: str
    target: str
    description: str
    safe: bool


@dataclasses.dataclass(frozen=True)
class Source:
    """The place in the program that the model was exported from."""

    module: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Finding:
    """One hazard. `severity` is "note", "warning" or "error"; `range` what the value may be."""

    model: str
    rule: str
    kind: str
    severity: str
    evidence: str
    consequence: str
    node: Node
    value: str
    range: Tuple[float, float]
    basis: str
    limit: float
    message: str
    reason: str
    occurrences: Tuple[Place, ...]
    consequences: Tuple[str, ...]
    fixes: Tuple[Fix, ...]
    fingerprint: str
    source: Optional[Source] = None  # None where the exporter left no trace

    def __str__(self) -> str:
        place = self.node.key or self.value
        return f"{self.severity}: {place}: {self.message} [{self.rule}]"


def _known(cls: type, values: "dict[str, Any]") -> "dict[str, Any]":
    """Drops keys that a later version of the report may have."""
    return {f.name: values[f.name] for f in dataclasses.fields(cls) if f.name in values}


def _node(values: "dict[str, Any]") -> Node:
    return Node(**{**_known(Node, values), "path": tuple(values["path"]), "outputs": tuple(values["outputs"])})


def finding(model: str, values: "dict[str, Any]") -> Finding:
    """Turns a finding of the JSON report, where infinities are strings, into an object."""
    lo, hi = values["range"]
    source = values.get("source")
    return Finding(
        **{
            "reason": "",
            **_known(Finding, values),
            "model": model,
            "node": _node(values["node"]),
            "range": (float(lo), float(hi)),
            "limit": float(values["limit"]),
            "occurrences": tuple(Place(**_known(Place, p)) for p in values["occurrences"]),
            "consequences": tuple(values["consequences"]),
            "source": Source(**_known(Source, source)) if source else None,
            "fixes": tuple(Fix(**_known(Fix, f)) for f in values["fixes"]),
        }
    )
