"""A JAX function of one point, compiled for batches of few lengths, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .adapter import Array
from .jax_program import Program, double
from .padding import SIZES, pieces


def value_sizes(dim: int) -> tuple[int, ...]:
    """The lengths of batches of values alone: those of 64 particles, and of a round of the engine's draws.

    For one point the program of 64 will do.
    """
    return 64, 1000 + 20 * dim


#: From a point (d,) to any number of arrays.
PointFunction = Callable[[Any], tuple[Any, ...]]


class JaxBatch:
    """`function` over batches (d, n): its arrays as (n, ...), the gradients of its numbers as (d, n).

    Numbers and gradients come as the rows of one array: each that is handed over costs some microseconds.
    """

    def __init__(self, function: PointFunction) -> None:
        def arrays(points: Any) -> tuple[Any, ...]:
            found: tuple[Any, ...] = jax.vmap(function, in_axes=1)(points)
            return found

        def numbers(points: Any) -> Any:
            return jnp.stack(arrays(points))

        def slopes(points: Any) -> Any:
            values, slopes = jax.vmap(_with_slopes(function), in_axes=1, out_axes=(0, 1))(points)
            return jnp.concatenate([jnp.stack(values), *slopes])

        self._arrays, self._numbers, self._slopes = map(Program, (arrays, numbers, slopes))

    @property
    def compilations(self) -> int:
        """So many programs were traced and compiled until now."""
        return sum(program.compilations for program in (self._arrays, self._numbers, self._slopes))

    def arrays(self, points: Array) -> list[Array]:
        """What the function returns at each point."""
        parts = self._run(self._arrays, points, value_sizes(len(points)))
        n = points.shape[1]
        return [np.concatenate([np.asarray(part) for part in array])[:n] for array in zip(*parts)]

    def numbers(self, points: Array) -> list[Array]:
        """The numbers that the function returns at each point."""
        return list(_beside(self._run(self._numbers, points, value_sizes(len(points))), points.shape[1]))

    def numbers_and_slopes(self, points: Array) -> tuple[list[Array], list[Array]]:
        """The same numbers, and their gradients."""
        dim, n = points.shape
        rows = _beside(self._run(self._slopes, points, SIZES), n)
        count = len(rows) // (1 + dim)
        slopes = rows[count:].reshape(count, dim, n) if count > 1 else rows[np.newaxis, 1:]
        return list(rows[:count]), list(slopes)

    def _run(self, program: Program, points: Array, sizes: tuple[int, ...]) -> list[Any]:
        with double():
            # All are started before the first is waited for.
            return [program(piece) for _, _, piece in pieces(points, sizes)]


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


def _beside(parts: list[Any], n: int) -> Array:
    """Arrays (rows, points) beside each other, without the points that only fill up the last one."""
    if len(parts) == 1:
        return np.asarray(parts[0])[:, :n]
    return np.concatenate([np.asarray(part) for part in parts], axis=1)[:, :n]
