"""Which point of a batch makes a function raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .adapter import Array

#: So many coordinates are written out.
SHOWN = 20


def describe(point: Array, names: Sequence[str]) -> str:
    """A point by the names of its coordinates, in digits that give the same number back."""
    shown = [f"{name}={float(value)!r}" for name, value in zip(names[:SHOWN], point)]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more coordinates" if left else "")


def blame(
    error: Exception, points: Array, names: Sequence[str], call: Callable[[Array], object]
) -> None:
    """Adds to `error`, which `call(points)` raised, a note that names a point which raises it alone.

    The batch is halved, which takes 2 log2(n) further calls at most. Where neither half raises, the
    note says so.
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
                "and not again for either half of them."
            )
            return
    error.add_note(f"adaann: raised at the point {describe(points[:, low], names)}")


def _raises(error: Exception, points: Array, call: Callable[[Array], object]) -> bool:
    try:
        call(points)
    except Exception as again:
        return type(again) is type(error)
    return False
