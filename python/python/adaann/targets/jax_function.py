"""JAX functions of one point."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from .adapter import Array, Coordinates, Parts, Target
from .blame import blame
from .jax_batch import JaxBatch
from .returned import describe


class JaxFunction(Target):
    """A log density, or a log prior and a log likelihood, as JAX functions `(d,) -> scalar`."""

    def __init__(
        self,
        coordinates: Coordinates,
        function: Callable[[Any], Any],
        prior: Callable[[Any], Any] | None = None,
        gradient: bool = True,
    ) -> None:
        super().__init__(coordinates)
        self.has_prior = prior is not None
        self.gives_gradient = gradient
        # A jitted function fixes the globals that it reads at its first call, so its program can be cached.
        jitted = all(isinstance(part, jax.stages.Wrapped) for part in (function, prior or function))
        self.batch = (_kept_batch if jitted else _batch)(function, prior)
        self.notes.append("JAX function of a point, compiled for batches in double precision")

    @property
    def compilations(self) -> int:
        """The number of programs compiled so far."""
        return self.batch.compilations

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Runs the compiled program, and compiles it first if necessary."""
        before = self.compilations
        try:
            return parts_of(self.batch, points, gradient)
        except Exception as error:
            # An error during tracing does not depend on the points.
            if self.compilations == before:
                blame(error, points, self.names, lambda piece: self.evaluate(piece, gradient))
            raise


def _batch(function: Callable[[Any], Any], prior: Callable[[Any], Any] | None) -> JaxBatch:
    def parts(point: Any) -> tuple[Any, ...]:
        likelihood = _number(function(point), "The target")
        return (likelihood,) if prior is None else (_number(prior(point), "The prior"), likelihood)

    return JaxBatch(parts)


#: Caches the programs of the last few functions, so that another fit does not compile them again.
_kept_batch = lru_cache(maxsize=4)(_batch)


def parts_of(batch: JaxBatch, points: Array, gradient: bool) -> Parts:
    """Converts the results of a function that returns (likelihood,) or (prior, likelihood) to `Parts`."""
    if gradient:
        values, slopes = batch.numbers_and_slopes(points)
    else:
        values, slopes = batch.numbers(points), []
    prior = values[0] if len(values) == 2 else None
    prior_slopes = slopes[0] if len(slopes) == 2 else None
    return prior, values[-1], prior_slopes, slopes[-1] if slopes else None


def _number(result: Any, what: str) -> Any:
    if isinstance(result, (tuple, list)) or result is None or jnp.shape(result) != ():
        raise ValueError(f"{what} returned {describe(result)}; a JAX function of one point must return one number.")
    if jnp.result_type(result) == jnp.float32:
        raise TypeError(
            f"{what} returned a number of type float32; expected float64: remove conversions to float32, "
            'and create constants after jax.config.update("jax_enable_x64", True).'
        )
    if jnp.result_type(result) != jnp.float64:
        raise TypeError(f"{what} returned a number of type {jnp.result_type(result)}; expected float64.")
    return jnp.asarray(result)
