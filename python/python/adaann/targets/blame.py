"""Finds the point of a batch at which a function raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .adapter import Array

#: The maximal number of coordinates in a message.
SHOWN = 20


def describe(point: Array, names: Sequence[str]) -> str:
    """Formats a point with the names of its coordinates and digits that round-trip."""
    shown = [f"{name}={float(value)!r}" for name, value in zip(names[:SHOWN], point)]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more coordinates" if left else "")


def blame(
    error: Exception, points: Array, names: Sequence[str], call: Callable[[Array], object]
) -> None:
    """Adds a note to `error`, which `call(points)` raised, that names a single point at which it is raised.

    Bisecting the batch takes at most 2 log2(n) further calls. If neither half raises, the note says so.
    """
    low, high = 0, points.shape[1]
    while high - low > 1:
        middle = (low + high) // 2
        for start, end in ((low, middle), (middle, high)):
            if _raises(error, np.ascontiguousarray(points[:, start:end]), call):
                low, high = start, end
                break
        else:
            error.add_note(
                f"adaann: raised for {high - low} points at once (of a batch of {points.shape[1]}), "
                "but not for either half of them alone."
            )
            return
    error.add_note(f"adaann: raised at the point {describe(points[:, low], names)}")


def _raises(error: Exception, points: Array, call: Callable[[Array], object]) -> bool:
    try:
        call(points)
    except Exception as again:
        return type(again) is type(error)
    return False
