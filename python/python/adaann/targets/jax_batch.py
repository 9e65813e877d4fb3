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
        return self._run(self._values, points)[0]

    def numbers(self, points: Array) -> list[Array]:
        """As `arrays`, of a function that has gradients: short pieces go through the program that
        computes these too, since to compile another one takes longer than it saves."""
        return self._run(lambda x: (self._slopes if x.shape[1] == SIZES[0] else self._values)(x), points)[0]

    def numbers_and_slopes(self, points: Array) -> tuple[list[Array], list[Array]]:
        """The numbers that the function returns at each point, and their gradients."""
        return self._run(self._slopes, points)

    def _run(self, program: Callable[[Any], Any], points: Array) -> tuple[list[Array], list[Array]]:
        with double():
            parts = pieces(points)
            # All are started before the first is waited for.
            results = [program(piece) for _, _, piece in parts]
        counts = [end - start for start, end, _ in parts]
        values, slopes = zip(*results)
        return _joined(values, counts, 0), _joined(slopes, counts, 1) if slopes[0] else []


def _with_slopes(function: PointFunction) -> Callable[[Any], tuple[Any, Any]]:
    def both(point: Any) -> tuple[Any, Any]:
        values, pull = jax.vjp(function, point)
        one, zero = jnp.ones(()), jnp.zeros(())
        slopes = [pull(tuple(one if i == k else zero for i in range(len(values))))[0] for k in range(len(values))]
        return values, tuple(slopes)

    return both


def _joined(results: tuple[Any, ...], counts: list[int], axis: int) -> list[Array]:
    """The arrays of all pieces put together, without the points that only fill them up."""
    joined = []
    for arrays in zip(*results):
        real = [np.asarray(a)[:n] if axis == 0 else np.asarray(a)[:, :n] for a, n in zip(arrays, counts)]
        joined.append(real[0] if len(real) == 1 else np.concatenate(real, axis=axis))
    return joined
