"""Compiles PyTensor graphs of one point for batches, by JAX if possible, otherwise one point at a time."""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Protocol

import numpy as np

from .adapter import Array


class Programs(Protocol):
    """The outputs of a graph over batches (dim, n)."""

    @property
    def compilations(self) -> int:
        """The number of programs compiled so far."""
        ...

    def arrays(self, points: Array) -> list[Array]:
        """All outputs, as (n, *shape)."""
        ...

    def numbers(self, points: Array, gradient: bool) -> tuple[list[Array], list[Array]]:
        """All outputs, which must be scalars, with their gradients (dim, n) on request."""
        ...


def compiled(point: Any, outputs: list[Any], dim: int, slopes: bool) -> tuple[Programs, str]:
    """Compiles `outputs` as functions of the vector `point`, and describes how they run."""
    if importlib.util.find_spec("jax") is None:
        return Looped(point, outputs, slopes), "compiled, one point at a time (JAX is not installed)"
    try:
        return ByJax(point, outputs, dim), "its JAX log density over batches"
    except Exception as error:
        why = str(error).partition("\n")[0][:100]
        return Looped(point, outputs, slopes), f"compiled, one point at a time (JAX cannot run it: {why})"


class ByJax:
    """Programs by JAX."""

    def __init__(self, point: Any, outputs: list[Any], dim: int) -> None:
        # Importing this module sets up 100 JAX devices (threads), so restore the flags.
        flags = os.environ.get("XLA_FLAGS")
        try:
            from pymc.sampling.jax import get_jaxified_graph
        finally:
            os.environ.pop("XLA_FLAGS", None)
            if flags is not None:
                os.environ["XLA_FLAGS"] = flags
        import jax

        from .jax_batch import JaxBatch
        from .jax_program import double

        function = get_jaxified_graph([point], outputs)

        def function_of_tuple(point: Any) -> tuple[Any, ...]:
            return tuple(function(point))

        with double():
            # A graph that JAX cannot run fails here.
            jax.eval_shape(function_of_tuple, np.zeros(dim))
        self._batch = JaxBatch(function_of_tuple)

    @property
    def compilations(self) -> int:
        """The number of programs compiled so far."""
        return self._batch.compilations

    def arrays(self, points: Array) -> list[Array]:
        """All outputs."""
        return self._batch.arrays(points)

    def numbers(self, points: Array, gradient: bool) -> tuple[list[Array], list[Array]]:
        """All outputs and their gradients."""
        if gradient:
            return self._batch.numbers_and_slopes(points)
        return self._batch.numbers(points), []


class Looped:
    """Programs by PyTensor, called once for each point."""

    def __init__(self, point: Any, outputs: list[Any], slopes: bool) -> None:
        from pymc.pytensorf import compile as compile_graph
        from pytensor.gradient import grad

        self.compilations = 1
        self._count = len(outputs)
        self._values = compile_graph([point], outputs)
        if slopes:
            self.compilations = 2
            gradients = [grad(output, point, disconnected_inputs="ignore") for output in outputs]
            self._slopes = compile_graph([point], [*outputs, *gradients])

    def arrays(self, points: Array) -> list[Array]:
        """All outputs."""
        return [np.stack(column) for column in zip(*map(self._values, np.array(points.T, order="C")))]

    def numbers(self, points: Array, gradient: bool) -> tuple[list[Array], list[Array]]:
        """All outputs and their gradients."""
        if not gradient:
            return self.arrays(points), []
        rows = [self._slopes(point) for point in np.array(points.T, order="C")]
        columns = [np.stack(column) for column in zip(*rows)]
        return columns[: self._count], [column.T for column in columns[self._count :]]
