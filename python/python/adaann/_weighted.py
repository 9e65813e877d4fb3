"""Estimates from weighted draws of variables that the engine does not know."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The quantiles of every table, the same as in the engine.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
LEVELS = tuple(f"{share:.0%}" for share in SHARES)


def described(
    name: str, values: NDArray[np.float64], weights: NDArray[np.float64], per_effective: float = 1.0
) -> dict[str, Any]:
    """Mean and standard deviation, with their standard errors, and quantiles of weighted draws.

    `per_effective` is the number of draws per effective draw, which is above 1 for draws from chains.
    """
    mean = float(weights @ values)
    squares = (values - mean) ** 2
    variance = float(weights @ squares)
    sd = variance**0.5
    # The delta method, for ratios of sums: the error of a mean is the root of the sum of (w (x - mean))^2.
    mean_error = float(np.sqrt(per_effective * (weights**2 @ squares)))
    sd_error = float(np.sqrt(per_effective * (weights**2 @ (squares - variance) ** 2))) / (2 * sd) if sd > 0 else 0.0
    order = np.argsort(values)
    share = np.cumsum(weights[order])
    places = np.searchsorted(share, SHARES).clip(max=len(values) - 1)
    quantiles = dict(zip(LEVELS, map(float, values[order][places]), strict=True))
    return {"name": name, "mean": mean, "mean_error": mean_error, "sd": sd, "sd_error": sd_error, **quantiles}
