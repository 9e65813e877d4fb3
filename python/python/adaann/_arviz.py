"""Conversion of results for ArviZ, before and after version 1."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._result import Result


def converted(result: Result) -> Any:
    """Returns InferenceData before ArviZ 1, and a DataTree from version 1.

    The group `posterior` has draws of equal weight, because ArviZ does not support weights. The weighted draws are
    in `unweighted` and `unweighted_stats`.
    """
    import arviz

    adapter: Any = result._adapter
    if hasattr(adapter, "constrain"):
        return _of_model(arviz, result, adapter)
    with TemporaryDirectory(prefix="adaann-") as folder:
        path = Path(folder) / "draws.nc"
        path.write_bytes(result._answer.netcdf())
        found = arviz.from_netcdf(str(path))
        # Load now: the file is deleted when this function returns.
        found.load()
        return found


def _of_model(arviz: Any, result: Result, adapter: Any) -> Any:
    """Converts the result of a PyMC or Stan model, with the variables and dimensions of the model."""
    chosen = result._answer.resampled(len(result.draws.weights), 1)
    points = np.ascontiguousarray(result._answer.points()[:, chosen])
    groups: dict[str, dict[str, Any]] = {
        "posterior": _in_one_chain(adapter.constrain(points)),
        "sample_stats": _in_one_chain({"lp": result._answer.log_p()[chosen]}),
    }
    if hasattr(adapter, "log_likelihood"):
        groups["log_likelihood"] = _in_one_chain(adapter.log_likelihood(points))
    if getattr(adapter, "observed_data", None):
        groups["observed_data"] = dict(adapter.observed_data)
    dims = {name: list(found) for name, found in getattr(adapter, "dims", {}).items()}
    coords = dict(getattr(adapter, "coords", {}))
    groups = {name: group for name, group in groups.items() if group}
    if hasattr(arviz, "InferenceData"):
        return arviz.from_dict(**groups, dims=dims, coords=coords)
    return arviz.from_dict(groups, dims=dims, coords=coords)


def _in_one_chain(group: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(values)[np.newaxis] for name, values in group.items()}
