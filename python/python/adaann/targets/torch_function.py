"""PyTorch functions of one point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .adapter import Array, Coordinates, Parts, Target
from .returned import describe

#: The maximal number of points evaluated at once, which bounds memory.
CHUNK = 4096


class TorchFunction(Target):
    """A log density, or a log prior and a log likelihood, as functions `(d,) -> scalar` of tensors."""

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
        self.likelihood = _Batch(function, "The target")
        self.prior = None if prior is None else _Batch(prior, "The prior")
        self.notes.append("PyTorch function of a point, over batches by torch.func.vmap")

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Runs the functions over the batch without copying it."""
        # PyTorch does not support read-only memory.
        tensor = torch.from_numpy(points if points.flags.writeable else points.copy())
        prior, prior_gradient = (None, None) if self.prior is None else self.prior(tensor, gradient)
        likelihood, likelihood_gradient = self.likelihood(tensor, gradient)
        return prior, likelihood, prior_gradient, likelihood_gradient


class _Batch:
    def __init__(self, function: Callable[[Any], Any], what: str) -> None:
        def number(point: Any) -> Any:
            result = function(point)
            if not isinstance(result, torch.Tensor) or result.shape != ():
                raise ValueError(
                    f"{what} returned {describe(result)}; "
                    "a PyTorch function of one point must return a tensor of shape ()."
                )
            if result.dtype != torch.float64:
                raise TypeError(
                    f"{what} returned a tensor of type {result.dtype}; expected torch.float64: "
                    "create constants with dtype=torch.float64, and convert modules by .double()."
                )
            return result

        self.values = torch.func.vmap(number, in_dims=1, chunk_size=CHUNK)
        self.slopes = torch.func.vmap(
            torch.func.grad_and_value(number), in_dims=1, out_dims=(1, 0), chunk_size=CHUNK
        )

    def __call__(self, points: torch.Tensor, gradient: bool) -> tuple[Array, Array | None]:
        # Differentiate by the point, not by the parameters of a module.
        with torch.no_grad():
            if gradient:
                slopes, values = self.slopes(points)
                return values.numpy(), slopes.numpy()
            return self.values(points).numpy(), None
