"""A JAX function of one point, compiled in double precision for batches of a few fixed lengths."""

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
    """The batch lengths without gradients: 64 particles, and one round of draws of the engine.

    A single point is padded to 64.
    """
    return 64, 1000 + 20 * dim


#: From a point (d,) to any number of arrays.
PointFunction = Callable[[Any], tuple[Any, ...]]


class JaxBatch:
    """`function` over batches (d, n): arrays of shape (n, ...), and gradients of its numbers of shape (d, n).

    Numbers and gradients are returned as the rows of one array, because each returned array costs some microseconds.
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
        """The number of programs traced and compiled so far."""
        return sum(program.compilations for program in (self._arrays, self._numbers, self._slopes))

    def arrays(self, points: Array) -> list[Array]:
        """The arrays that the function returns at each point."""
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
            # Calls are asynchronous: start all of them before waiting for the first.
            return [program(piece) for _, _, piece in pieces(points, sizes)]


def _with_slopes(function: PointFunction) -> Callable[[Any], tuple[Any, Any]]:
    traced = jax.jit(function)

    def both(point: Any) -> tuple[Any, Any]:
        # Differentiate each number separately. A joint vector-Jacobian product with zeros for the other numbers would
        # run through the whole function each time. Shared parts are traced once and so computed once.
        count = len(jax.eval_shape(traced, point))
        found = [jax.value_and_grad(lambda x, k=k: traced(x)[k])(point) for k in range(count)]
        values, slopes = zip(*found)
        return values, slopes

    return both


def _beside(parts: list[Any], n: int) -> Array:
    """Concatenates arrays (rows, points) and drops the padding of the last one."""
    if len(parts) == 1:
        return np.asarray(parts[0])[:, :n]
    return np.concatenate([np.asarray(part) for part in parts], axis=1)[:, :n]
