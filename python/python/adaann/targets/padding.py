"""Splits batches into pieces of a few fixed lengths, to keep the number of compilations small."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .adapter import Array

#: The lengths that pieces may have. The engine starts 48 ascents at once, and their number falls. Single points are
#: common, and much cheaper than a padded piece. Beyond a few hundred points, the cost per point no longer falls.
#: Large powers of two are avoided, because the rows of such arrays collide in the cache: a point in a piece of 512
#: takes a quarter longer than in a piece of 520.
SIZES = (1, 48, 520)

#: The cost of a call, in points: a JAX call with a scan over time takes 50 to 150 microseconds.
CALL = 128


@lru_cache(maxsize=4096)
def cover(n: int, sizes: tuple[int, ...] = SIZES) -> list[int]:
    """The sizes of pieces, longest first, that hold `n` points at the lowest cost in calls and padding."""
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
    """The pieces of a batch (dim, n): start, end, and points, padded with copies of the last point."""
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
