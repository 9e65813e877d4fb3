"""Stan models compiled by BridgeStan, in their unconstrained parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import stanio

from .adapter import Array, Parts, Target
from .coordinates import Coordinates


class StanModel(Target):
    """The log density of a Stan model, with all constants and the Jacobian of its transforms.

    Points that the model rejects are treated as outside the support.
    """

    def __init__(self, model: Any) -> None:
        names = [_indexed(name) for name in model.param_unc_names()]
        super().__init__(Coordinates(names, [("real",)] * len(names)))
        self.model = model
        self.rejections = 0
        """The number of points rejected so far."""
        self._accepted = False
        self.notes.append("Stan model by BridgeStan, one point at a time")

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Calls the model once for each point."""
        dim, n = points.shape
        values, slopes = np.full(n, -np.inf), np.zeros((n, dim)) if gradient else None
        error: RuntimeError | None = None
        for i, point in enumerate(np.array(points.T, order="C")):
            try:
                if slopes is None:
                    values[i] = self.model.log_density(point, propto=False, jacobian=True)
                else:
                    values[i], _ = self.model.log_density_gradient(
                        point, propto=False, jacobian=True, out=slopes[i]
                    )
            except RuntimeError as rejected:
                error = error or rejected
                self.rejections += 1
            else:
                self._accepted = True
        if error is not None and not self._accepted:
            error.add_note(f"adaann: raised at all {n} points of the first batch.")
            raise error
        return None, values, None, None if slopes is None else slopes.T

    def constrain(self, points: Array, seed: int = 1) -> dict[str, npt.NDArray[Any]]:
        """Parameters, transformed parameters and generated quantities at points (dim, n), as (n, *shape)."""
        rng = self.model.new_rng(seed)
        every = dict(include_tp=True, include_gq=True)
        rows = [self.model.param_constrain(point, rng=rng, **every) for point in np.array(points.T, order="C")]
        variables = stanio.parse_header(",".join(self.model.param_names(**every)))
        table = np.array(rows)
        return {name: variable.extract_reshape(table) for name, variable in variables.items()}


def _indexed(name: str) -> str:
    base, *indices = name.split(".")
    return f"{base}[{','.join(indices)}]" if indices else base
