"""Splitting batches into pieces of a few fixed lengths."""

import numpy as np
import pytest

from adaann.targets.padding import CALL, SIZES, cover, pieces


@pytest.mark.parametrize("n", [1, 47, 48, 49, 200, 519, 520, 521, 1000, 4095, 4096, 4097, 12345, 100_000])
def test_every_point_is_there_once(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(3, n))
    parts = pieces(x)
    assert [piece.shape[1] for _, _, piece in parts] == cover(n)
    assert set(cover(n)) <= set(SIZES)
    np.testing.assert_array_equal(np.concatenate([p[:, : b - a] for a, b, p in parts], axis=1), x)
    for _, end, piece in parts:
        assert piece.flags.c_contiguous
    last = parts[-1]
    filled = last[2][:, last[1] - last[0] :]
    np.testing.assert_array_equal(filled, np.repeat(x[:, -1:], filled.shape[1], axis=1))


def cost(sizes: list[int]) -> int:
    return sum(sizes) + CALL * len(sizes)


@pytest.mark.parametrize("n", [1, 48, 49, 130, 300, 449, 520, 600, 1500, 3000, 4000, 4100, 9000])
def test_no_cover_is_cheaper(n: int) -> None:
    small, middle, large = SIZES
    best = min(
        cost([large] * a + [middle] * b + [small] * c)
        for a in range(n // large + 2)
        for b in range(n // middle + 2)
        for c in [max(-(-(n - a * large - b * middle) // small), 0)]
    )
    assert cost(cover(n)) == best


def test_a_whole_piece_is_not_copied() -> None:
    x = np.zeros((2, SIZES[-1]))
    assert pieces(x)[0][2] is x
