"""A checksum that identifies a function: a run resumes only with the same function."""

from __future__ import annotations

import dis
import functools
import hashlib
from types import CodeType, FunctionType
from typing import Any

import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def identity(target: Any) -> str:
    """Returns a checksum of a function's code and of the visible numbers and arrays that it reads.

    Variables that the function changes itself, such as counters, are excluded. Of other objects only the type counts.
    """
    digest = hashlib.sha256()
    _add(digest, target, set())
    return digest.hexdigest()[:16]


def _add(digest: Any, value: Any, seen: set[int]) -> None:
    if id(value) in seen:
        return
    if isinstance(value, _PLAIN):
        digest.update(f"{type(value).__name__} {value!r};".encode())
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"array {value.dtype} {value.shape};".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, np.generic):
        _add(digest, value.item(), seen)
    elif isinstance(value, tuple):
        digest.update(f"tuple {len(value)};".encode())
        for part in value:
            _add(digest, part, seen)
    elif isinstance(value, frozenset):
        # The order of a set differs between processes.
        digest.update(f"set {sorted(map(repr, value))};".encode())
    elif isinstance(value, CodeType):
        seen.add(id(value))
        digest.update(b"code;" + value.co_code + repr((value.co_names, value.co_varnames)).encode())
        for constant in value.co_consts:
            _add(digest, constant, seen)
    elif isinstance(value, functools.partial):
        seen.add(id(value))
        _add(digest, (value.func, value.args, tuple(sorted(value.keywords.items()))), seen)
    elif isinstance(value, FunctionType):
        seen.add(id(value))
        _add_function(digest, value, seen)
    elif hasattr(value, "__wrapped__"):
        seen.add(id(value))
        _add(digest, value.__wrapped__, seen)
    elif hasattr(value, "__func__"):
        _add(digest, value.__func__, seen)
    else:
        digest.update(f"{type(value).__qualname__};".encode())


def _add_function(digest: Any, function: FunctionType, seen: set[int]) -> None:
    code = function.__code__
    _add(digest, code, seen)
    _add(digest, function.__defaults__ or (), seen)
    changed = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_GLOBAL", "STORE_DEREF")}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if name not in changed:
            try:
                _add(digest, (name, cell.cell_contents), seen)
            except ValueError:  # a cell that is still empty
                pass
    for name in code.co_names:
        if name in function.__globals__ and name not in changed:
            _add(digest, (name, function.__globals__[name]), seen)
