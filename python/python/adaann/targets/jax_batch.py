"""A JAX function of one point, compiled for batches of few lengths, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .adapter import Array
from .padding import SIZES, pieces

#: The lengths of batches of values alone, which are those of 64 particles and of draws in most cases: for one
#: point the program of 64 will do.
VALUE_SIZES = (64, SIZES[-1])

#: From a point (d,) to any number of arrays.
PointFunction = Callable[[Any], tuple[Any, ...]]


def double() -> AbstractContextManager[Any]:
    """Double precision in this thread, whatever the user's settings are."""
    if hasattr(jax, "enable_x64"):
        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context
    from jax import experimental  # where older versions have it

    context = getattr(experimental, "enable_x64")()
    return context


class JaxBatch:
    """`function` over batches (d, n): its arrays as (n, ...), the gradients of its numbers as (d, n)."""

    def __init__(self, function: PointFunction) -> None:
        self.compilations = 0
        """So many programs were traced and compiled until now."""

        def values(points: Any) -> tuple[Any, Any]:
            self.compilations += 1
            return jax.vmap(function, in_axes=1)(points), ()

        def slopes(points: Any) -> tuple[Any, Any]:
            self.compilations += 1
            both: tuple[Any, Any] = jax.vmap(_with_slopes(function), in_axes=1, out_axes=(0, 1))(points)
            return both

        self._values, self._slopes = jax.jit(values), jax.jit(slopes)

    def arrays(self, points: Array) -> list[Array]:
        """What the function returns at each point."""
        return self._run(self._values, points, VALUE_SIZES)[0]

    def numbers(self, points: Array) -> list[Array]:
        """As `arrays`, of a function that has gradients."""
        return self.arrays(points)

    def numbers_and_slopes(self, points: Array) -> tuple[list[Array], list[Array]]:
        """The numbers that the function returns at each point, and their gradients."""
        return self._run(self._slopes, points, SIZES)

    def _run(
        self, program: Callable[[Any], Any], points: Array, sizes: tuple[int, ...]
    ) -> tuple[list[Array], list[Array]]:
        with double():
            parts = pieces(points, sizes)
            # All are started before the first is waited for.
            results = [program(piece) for _, _, piece in parts]
        if len(parts) == 1:
            n = points.shape[1]
            values, slopes = results[0]
            return [np.asarray(a)[:n] for a in values], [np.asarray(a)[:, :n] for a in slopes]
        filled = points.shape[1] - parts[-1][0]
        values, slopes = zip(*results)
        return _joined(values, filled, 0), _joined(slopes, filled, 1)


def _with_slopes(function: PointFunction) -> Callable[[Any], tuple[Any, Any]]:
    traced = jax.jit(function)

    def both(point: Any) -> tuple[Any, Any]:
        # Each number is differentiated by itself: to pull back all of them with zeros for the others would go
        # back through all of the function each time. What they share is computed once, as it is traced once.
        count = len(jax.eval_shape(traced, point))
        found = [jax.value_and_grad(lambda x, k=k: traced(x)[k])(point) for k in range(count)]
        values, slopes = zip(*found)
        return values, slopes

    return both


def _joined(results: tuple[Any, ...], last: int, axis: int) -> list[Array]:
    """The arrays of all pieces put together, `last` points of the last one, whose others only fill it up."""
    joined = []
    for arrays in zip(*results):
        *whole, end = map(np.asarray, arrays)
        joined.append(np.concatenate([*whole, end[:last] if axis == 0 else end[:, :last]], axis=axis))
    return joined
