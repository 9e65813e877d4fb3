"""Parses names, sizes, bounds and supports into one name and one support for each coordinate."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from .adapter import Support

Names = Union[Sequence[str], Mapping[str, Optional[int]]]
Bounds = Mapping[str, tuple[Optional[float], Optional[float]]]

KINDS = ("real", "positive", "unit", "ordered", "simplex")


@dataclass
class Coordinates:
    """One name and one support for each coordinate."""

    names: list[str]
    supports: list[Support]
    places: dict[str, list[int]] = field(default_factory=dict)
    """The indices of the coordinates that belong to each user-supplied name."""


def coordinates(
    dim: int | None = None,
    names: Names | None = None,
    bounds: Bounds | None = None,
    supports: Mapping[str, str] | None = None,
) -> Coordinates:
    """Combines the arguments of the user, and rejects inconsistent ones."""
    supports = dict(supports or {})
    for name, kind in supports.items():
        if kind not in KINDS:
            raise ValueError(f"supports[{name!r}] is {kind!r}; {_meant(str(kind), KINDS)}")
    flat = _flat(dim, names, supports)
    if dim is not None and dim != len(flat):
        raise ValueError(f"dim is {dim}, but the number of coordinates in names is {len(flat)}.")
    result = Coordinates(flat, [("real",)] * len(flat), _places(flat))
    for name, pair in (bounds or {}).items():
        if name in supports:
            raise ValueError(f"{name!r} appears in both bounds and supports; use only one of them.")
        for place in _find(result, name, "bounds"):
            result.supports[place] = _bounded(name, pair)
    for name, kind in supports.items():
        places = _find(result, name, "supports")
        for place, support in zip(places, _of_kind(kind, len(places))):
            result.supports[place] = support
    return result


def elements(name: str, shape: Iterable[int]) -> list[str]:
    """The names of the elements of an array, row by row, counted from 1. A scalar keeps its name."""
    indices = [""]
    for length in shape:
        indices = [f"{index},{i + 1}" if index else str(i + 1) for index in indices for i in range(length)]
    return [f"{name}[{index}]" if index else name for index in indices]


def _flat(dim: int | None, names: Names | None, supports: Mapping[str, str]) -> list[str]:
    if names is None:
        if dim is None:
            raise ValueError(
                "adaann.fit needs dim= or names= to know how many coordinates the target has."
            )
        if isinstance(dim, bool) or not isinstance(dim, int) or dim < 1:
            raise ValueError(f"dim is {dim!r}; expected a positive integer.")
        return elements("x", [dim] if dim > 1 else [])
    flat = list(_sized(names, supports) if isinstance(names, Mapping) else names)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in flat):
        raise TypeError(f"names is {names!r}; expected a list of strings, or a dict of names and sizes.")
    twice = [name for name in flat if flat.count(name) > 1]
    if twice:
        raise ValueError(f"names contains {twice[0]!r} twice.")
    if not flat:
        raise ValueError("names is empty; a target needs at least one coordinate.")
    return flat


def _sized(sizes: Mapping[str, int | None], supports: Mapping[str, str]) -> list[str]:
    flat: list[str] = []
    for name, size in sizes.items():
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise ValueError(
                f"names[{name!r}] is {size!r}; expected a positive integer, or None for a scalar."
            )
        if supports.get(name) == "simplex":
            if size is None or size < 2:
                raise ValueError(f"{name!r} is a simplex of size {size}; expected a size of at least 2.")
            # The last part is 1 minus the others, so it is not a coordinate.
            flat += elements(name, [size - 1])
        else:
            flat += elements(name, [size] if size is not None and size > 1 else [])
    return flat


def _places(flat: list[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(flat):
        places.setdefault(name.partition("[")[0], []).append(place)
    for place, name in enumerate(flat):
        places[name] = [place]
    return places


def _find(known: Coordinates, name: str, where: str) -> list[int]:
    if name not in known.places:
        raise ValueError(f"{where} names {name!r}, which is not a coordinate; {_meant(name, known.places)}")
    return known.places[name]


def _meant(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = difflib.get_close_matches(name, known, 1, 0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    return "expected one of " + ", ".join(map(repr, known[:20])) + "."


def _bounded(name: str, pair: Any) -> Support:
    try:
        low, high = (None if bound is None else float(bound) for bound in pair)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds[{name!r}] is {pair!r}; expected (low, high), with None for a missing bound."
        ) from None
    low = None if low == -math.inf else low
    high = None if high == math.inf else high
    for bound in (low, high):
        if bound is not None and not math.isfinite(bound):
            raise ValueError(f"bounds[{name!r}] is {pair!r}; a bound must be a finite number or None.")
    if low is not None and high is not None:
        if low >= high:
            raise ValueError(f"bounds[{name!r}] is {pair!r}; the lower bound must be less than the upper bound.")
        return ("between", low, high)
    if low is not None:
        return ("above", low)
    return ("real",) if high is None else ("below", high)


def _of_kind(kind: str, size: int) -> list[Support]:
    if kind == "positive":
        return [("above", 0.0)] * size
    if kind == "unit":
        return [("between", 0.0, 1.0)] * size
    if kind == "ordered":
        return [("real",)] + [("after",)] * (size - 1)
    if kind == "simplex":
        return [("share", index, size + 1) for index in range(size)]
    return [("real",)] * size
