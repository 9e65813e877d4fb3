"""Corner plots of weighted draws."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._result import Result

_MOST = 8
_BLUE, _LIGHT = "#0072b2", "#56b4e9"


def drawn(result: Result, names: list[str] | None = None, bins: int = 40) -> Any:
    """Returns a matplotlib figure with weighted histograms: marginals on the diagonal, pairs below it."""
    from matplotlib.figure import Figure

    class Corner(Figure):
        """A figure that notebooks display with any matplotlib back end."""

        def _repr_png_(self) -> bytes:
            file = BytesIO()
            self.savefig(file, format="png")
            return file.getvalue()

    draws = result.draws
    shown = names if names is not None else draws.columns[:_MOST]
    unknown = [name for name in shown if name not in draws.columns]
    if unknown:
        raise ValueError(f"the draws have no column {unknown[0]!r}; the columns are {', '.join(draws.columns)}")
    count = len(shown)
    figure = Corner(figsize=(1.2 + 1.7 * count, 1.0 + 1.7 * count), layout="constrained")
    panels = figure.subplots(count, count, squeeze=False)
    ranges = [_range(draws[name], draws.weights) for name in shown]
    for row, column in np.ndindex(count, count):
        panel: Any = panels[row, column]
        if column > row:
            panel.set_axis_off()
            continue
        x = draws[shown[column]]
        if row == column:
            panel.hist(x, bins, range=ranges[row], weights=draws.weights, histtype="stepfilled", color=_LIGHT)
            panel.set_yticks([])
        else:
            box = [ranges[column], ranges[row]]
            panel.hist2d(x, draws[shown[row]], bins, range=box, weights=draws.weights, cmap=_shades(), rasterized=True)
        panel.set_xlim(*ranges[column])
        panel.tick_params(labelsize=8, labelbottom=row == count - 1, labelleft=column == 0 and row > 0)
        if row == count - 1:
            panel.set_xlabel(shown[column])
        if column == 0 and row > 0:
            panel.set_ylabel(shown[row])
    return figure


def _shades() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("adaann", ["white", _LIGHT, _BLUE])


def _range(values: Any, weights: Any) -> tuple[float, float]:
    """The interval with 99.9 % of the mass, with a margin."""
    order = np.argsort(values)
    share = np.cumsum(weights[order])
    low, high = values[order][np.searchsorted(share, [0.0005, 0.9995]).clip(max=len(values) - 1)]
    margin = 0.05 * (high - low) or 1.0
    return float(low - margin), float(high + margin)
