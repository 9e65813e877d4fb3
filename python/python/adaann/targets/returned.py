"""Checks of the values that user functions return."""

from __future__ import annotations

from typing import Any

import numpy as np

from .adapter import Array


_DOUBLE = np.dtype(np.float64)


def describe(result: Any) -> str:
    """Describes a result by its type, shape and dtype."""
    kind = type(result)
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape} and type {result.dtype}"
    if hasattr(result, "shape") and hasattr(result, "dtype"):
        return f"a {_module(result)} {kind.__name__} of shape {tuple(result.shape)} and type {result.dtype}"
    if isinstance(result, (list, tuple)):
        return f"a {kind.__name__} of {len(result)}"
    return "None" if result is None else f"a {kind.__name__}"


def _module(result: Any) -> str:
    root = type(result).__module__.partition(".")[0]
    return "jax" if root == "jaxlib" else root


def _hint(result: Any) -> str:
    if isinstance(result, np.ndarray):
        return ""
    module = _module(result)
    if module in ("jax", "torch"):
        return f' (for a {module} function of one point, pass backend="{module}")'
    if isinstance(result, tuple) and len(result) == 2:
        return " (for a function that returns values and gradients, pass gradient=True)"
    if isinstance(result, float):
        return " (for a function of one point, pass vectorized=False)"
    return ""


def array(result: Any, shape: tuple[int, ...], what: str, called: str) -> Array:
    """Returns `result` if it is a float64 array of `shape`, and raises an error otherwise.

    `called` is the shape in letters, such as "(n,)".
    """
    # Every batch passes here, so build the message only on error.
    if isinstance(result, np.ndarray) and result.dtype is _DOUBLE and result.shape == shape:
        return result
    expected = f"expected a float64 array of shape {called}, here {shape}"
    if not isinstance(result, np.ndarray) or result.dtype != np.float64:
        raise TypeError(f"{what} returned {describe(result)}; {expected}{_hint(result)}.")
    if result.shape != shape:
        raise ValueError(f"{what} returned {describe(result)}; {expected}.")
    return result


def pair(result: Any, what: str) -> tuple[Any, Any]:
    """The values and gradients that a function with `gradient=True` returns."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{what} returned {describe(result)}; with gradient=True, expected a tuple of values and gradients."
        )
    return result


def number(result: Any, what: str) -> float:
    """Returns `result` if it is one real number, and raises an error otherwise."""
    scalar = np.asarray(result) if not isinstance(result, (list, tuple)) else None
    if scalar is None or scalar.shape != () or scalar.dtype.kind not in "fiu":
        raise TypeError(f"{what} returned {describe(result)}; expected one real number for one point.")
    if scalar.dtype.kind == "f" and scalar.dtype != np.float64:
        raise TypeError(f"{what} returned a number of type {scalar.dtype}; expected float64.")
    return float(scalar)
