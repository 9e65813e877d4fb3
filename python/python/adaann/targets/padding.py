"""Batches of any length in pieces of few lengths, so that little has to be compiled."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .adapter import Array

#: The lengths that pieces may have. The engine climbs from 48 points at once, and with fewer and fewer; a point
#: alone is common, and by far cheaper than a filled piece; from some hundreds on, longer pieces are not cheaper
#: for a point. None is a large power of two: the rows of such arrays share places in the cache, and a point of 512
#: takes a quarter longer than one of 520.
SIZES = (1, 48, 520)

#: What a call costs, in points: with a scan over time a call of JAX takes 50 to 150 microseconds.
CALL = 128


@lru_cache(maxsize=4096)
def cover(n: int, sizes: tuple[int, ...] = SIZES) -> list[int]:
    """The sizes of pieces, longest first, that hold `n` points with the fewest calls and empty places."""
    longest = sizes[-1]
    if len(sizes) == 1:
        return [longest] * -(-n // longest)
    covers = [
        [longest] * count + cover(max(n - count * longest, 0), sizes[:-1])
        for count in (n // longest, -(-n // longest))
    ]
    return min(covers, key=_cost)


def _cost(pieces: list[int]) -> int:
    return sum(pieces) + CALL * len(pieces)


def pieces(points: Array, sizes: tuple[int, ...] = SIZES) -> list[tuple[int, int, Array]]:
    """The pieces of a batch (dim, n): start, end, and the points, the last one repeated to the size."""
    n = points.shape[1]
    if n in sizes:
        return [(0, n, points)]
    result, start = [], 0
    for size in cover(n, sizes):
        end = min(start + size, n)
        piece = np.empty((points.shape[0], size))
        piece[:, : end - start] = points[:, start:end]
        if end - start < size:
            piece[:, end - start :] = points[:, end - 1 : end]
        result.append((start, end, piece))
        start = end
    return result
