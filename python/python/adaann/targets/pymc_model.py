"""PyMC models, in the unconstrained variables that the PyMC samplers use."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytensor.tensor as pt
from pymc.backends.arviz import find_constants, find_observations
from pymc.model.transform.optimization import freeze_dims_and_data
from pymc.pytensorf import join_nonshared_inputs
from pymc.util import get_default_varnames

from .adapter import Array, Parts, Target
from .coordinates import Coordinates, elements
from .pymc_programs import Programs, compiled


class PymcModel(Target):
    """The log prior and the log likelihood of a PyMC model.

    The prior covers the free variables, with the Jacobian of their transforms. The likelihood covers observed variables
    and potentials. Coordinates have the names that PyMC gives them, such as `tau_log__` for the logarithm of `tau`.
    """

    has_prior = True

    def __init__(self, model: Any) -> None:
        discrete = [rv.name for rv in model.free_RVs if rv.dtype.startswith(("int", "uint", "bool"))]
        if discrete:
            raise ValueError(
                f"The model has discrete free variables ({', '.join(discrete)}), which adaann does not support; "
                "sum them out, as pymc.Mixture does."
            )
        if not model.free_RVs:
            raise ValueError("The model has no free variables.")
        # Freezing changes the order of the variables, so remember the order of declaration.
        names = [variable.name for variable in [*model.free_RVs, *model.deterministics]]
        self.model = model = freeze_dims_and_data(model)
        free = sorted(model.free_RVs, key=lambda rv: names.index(rv.name))
        self._order = names
        self._inputs = [model.rvs_to_values[rv] for rv in free]
        self._start = model.initial_point()
        super().__init__(_coordinates(model, free, self._start))
        flat = [rv.name for rv in free if type(rv.owner.op).__name__ in ("FlatRV", "HalfFlatRV")]
        self.has_proper_prior = not flat
        self.observed_data: dict[str, Any] = find_observations(model)
        self.constant_data: dict[str, Any] = find_constants(model)
        self.dims: dict[str, tuple[str, ...]] = {
            name: tuple(dims) for name, dims in model.named_vars_to_dims.items()
        }
        self.coords: dict[str, npt.NDArray[Any]] = {
            name: np.asarray(values) for name, values in model.coords.items() if values is not None
        }
        data = [*model.observed_RVs, *model.potentials]
        prior = model.logp(vars=model.free_RVs)
        likelihood = model.logp(vars=data) if data else pt.constant(0.0)
        self._density, how = self._compiled([prior, likelihood], slopes=True)
        self._constrain: Programs | None = None
        self._terms: Programs | None = None
        self.notes.append(f"PyMC model, {how}")
        if flat:
            self.notes.append(f"no proper prior for {', '.join(flat)}")

    @property
    def compilations(self) -> int:
        """The number of programs of the log density compiled so far."""
        return self._density.compilations

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Runs the model's compiled log densities."""
        (prior, likelihood), slopes = self._density.numbers(points, gradient)
        prior_slopes, slopes_of_data = slopes if gradient else (None, None)
        return prior, likelihood, prior_slopes, slopes_of_data

    def constrain(self, points: Array) -> dict[str, npt.NDArray[Any]]:
        """All unobserved variables and deterministic quantities at points (dim, n), as (n, *shape)."""
        outputs = get_default_varnames(self.model.unobserved_value_vars, include_transformed=False)
        outputs.sort(key=lambda output: self._order.index(output.name))
        if self._constrain is None:
            self._constrain, _ = self._compiled(outputs)
        return dict(zip([output.name for output in outputs], self._constrain.arrays(points)))

    def log_likelihood(self, points: Array) -> dict[str, npt.NDArray[Any]]:
        """The log likelihood of each observation at points (dim, n), as (n, *shape)."""
        if not self.model.observed_RVs:
            return {}
        if self._terms is None:
            self._terms, _ = self._compiled(self.model.logp(vars=self.model.observed_RVs, sum=False))
        names = [rv.name for rv in self.model.observed_RVs]
        return dict(zip(names, self._terms.arrays(points)))

    def _compiled(self, outputs: list[Any], slopes: bool = False) -> tuple[Programs, str]:
        joined, point = join_nonshared_inputs(self._start, outputs, self._inputs)
        return compiled(point, list(joined), self.dim, slopes)


def _coordinates(model: Any, free: list[Any], start: dict[str, Any]) -> Coordinates:
    names: list[str] = []
    for rv in free:
        value = model.rvs_to_values[rv]
        names += elements(value.name, start[value.name].shape)
    return Coordinates(names, [("real",)] * len(names))
