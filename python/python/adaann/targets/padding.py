"""Batches of any length in pieces of few lengths, so that little has to be compiled."""

from __future__ import annotations

import numpy as np

from .adapter import Array

#: The lengths that pieces may have.
SIZES = (64, 512, 4096)

#: What a call costs, in points: a call of JAX takes some tens of microseconds.
CALL = 64


def cover(n: int) -> list[int]:
    """The sizes of pieces, longest first, that hold `n` points with the fewest calls and empty places."""
    small, middle, large = SIZES
    best: list[int] = []
    for larges in (n // large, -(-n // large)):
        left = max(n - larges * large, 0)
        for middles in (left // middle, -(-left // middle)):
            smalls = max(-(-(left - middles * middle) // small), 0)
            pieces = [large] * larges + [middle] * middles + [small] * smalls
            if not best or _cost(pieces) < _cost(best):
                best = pieces
    return best


def _cost(pieces: list[int]) -> int:
    return sum(pieces) + CALL * len(pieces)


def pieces(points: Array) -> list[tuple[int, int, Array]]:
    """The pieces of a batch (dim, n): start, end, and the points, the last one repeated to the size."""
    n = points.shape[1]
    result, start = [], 0
    for size in cover(n):
        end = min(start + size, n)
        if start == 0 and size == n:
            result.append((0, n, points))
        else:
            piece = np.empty((points.shape[0], size))
            piece[:, : end - start] = points[:, start:end]
            piece[:, end - start :] = points[:, end - 1 : end]
            result.append((start, end, piece))
        start = end
    return result
