"""`adaann.fit`: one function for all targets."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._choices import Choice
from ._data import as_file
from ._densities import Density
from ._identity import identity
from ._progress import Bar
from ._result import Particles, Result
from ._words import words
from .targets import Adapter, adapt
from .targets.coordinates import Bounds, Names

_MISSING: Any = object()


def fit(
    target: Any = _MISSING,
    *,
    dim: int | None = None,
    names: Names | None = None,
    bounds: Bounds | None = None,
    supports: Mapping[str, str] | None = None,
    prior: Callable[..., Any] | None = None,
    gradient: Any = None,
    vectorized: bool = True,
    backend: str | None = None,
    pool: Any = None,
    data: Any = None,
    name: str | None = None,
    flow: str | Choice | None = None,
    schedule: str | Choice | Callable[..., float] | None = None,
    progress: bool | Callable[[float, str], object] = False,
    **settings: Any,
) -> Result:
    """Approximates a density that is known up to a constant, and reports how far to trust the result.

    `target` is one of

    - a NumPy function of a batch, `(n, d) -> (n,)`, that returns log p. With `gradient=True` it also returns the
      gradient `(n, d)`. Without a gradient, adaann uses finite differences, which take 2 d + 1 evaluations for each
      point. Pass `vectorized=False` for a function of one point, `(d,) -> float`;
    - a JAX function of one point (jitted, or with `backend="jax"`), or a PyTorch one (`backend="torch"`);
    - a PyMC model, or a Stan model compiled by BridgeStan;
    - the path of a model file. `data` replaces the data of the file: a path, a dict of columns, or a table of pandas
      or polars;
    - the name of a built-in density, or `adaann.density(name, ...)`.

    Functions need the names of the coordinates (`names`) or their number (`dim`). `bounds={"sigma": (0, None)}` and
    `supports={"w": "simplex"}` restrict their support. With `prior`, a function of the same kind, `target` is the log
    likelihood alone, and annealing leads from the prior to the posterior. `pool` evaluates pieces of each batch in
    parallel: pass a number of processes, or any object with a method `map`.

    All other arguments are settings of the command line, with `_` for `-`: `seed`, `method`, `target_ess`, `search`,
    `check`, `max_evaluations`, `max_time`, `out`, and so on. `adaann.settings()` lists them. `search=10` searches ten
    times as long for modes. `flow` and `schedule` select the paper's Algorithm 1 (see `adaann.flows` and
    `adaann.schedules`). With `out`, the run is saved in that folder while it runs, and the same call resumes a run
    that was killed.

    The first Ctrl-C stops the run and returns the result so far (`result.stopped` is True). The second raises
    `KeyboardInterrupt`. `progress=True` shows a progress bar.
    """
    rule, chosen = _schedule(schedule, settings)
    given = {**settings, **_chosen("flow", flow), **chosen}
    if isinstance(gradient, str):
        # Algorithm 1 has a setting of the same name: how it estimates the gradient of its loss.
        given["gradient"], gradient = gradient, None
    own = dict(
        dim=dim, names=names, bounds=bounds, supports=supports, prior=prior,
        gradient=gradient, vectorized=vectorized, backend=backend, pool=pool,
    )  # fmt: skip
    adapter: Adapter | None = None
    with as_file(data) as file, _shown(progress) as show:
        if _is_named(target):
            _refuse_own(target, own, name)
            subject = _subject(target, file)
        else:
            if data is not None:
                raise ValueError("data= applies only to model files; a function must hold its own data")
            adapter = _adapted(target, own)
            subject = {"target": adapter, "name": name or _name(target), "identity": identity(target)}
        try:
            answer = _core.fit(subject, words(given), show, rule)
        finally:
            _close(adapter)
    result = Result(answer, adapter)
    for text in result.warnings:
        warnings.warn(text, stacklevel=2)
    return result


def smc(
    target: Any = _MISSING,
    *,
    dim: int | None = None,
    names: Names | None = None,
    bounds: Bounds | None = None,
    supports: Mapping[str, str] | None = None,
    prior: Callable[..., Any] | None = None,
    gradient: Any = None,
    vectorized: bool = True,
    backend: str | None = None,
    pool: Any = None,
    data: Any = None,
    schedule: str | Choice | None = None,
    progress: bool | Callable[[float, str], object] = False,
    **settings: Any,
) -> Particles:
    """Samples by sequential Monte Carlo with the schedules of the paper, and returns particles and the evidence.

    Targets are the same as for `adaann.fit`. Settings are those of `adaann smc`: `particles`, `islands`, `move`,
    `seed`, `tau`, and so on.
    """
    own = dict(
        dim=dim, names=names, bounds=bounds, supports=supports, prior=prior,
        gradient=gradient, vectorized=vectorized, backend=backend, pool=pool,
    )  # fmt: skip
    given = {**settings, **_chosen("schedule", schedule)}
    adapter: Adapter | None = None
    with as_file(data) as file, _shown(progress) as show:
        if _is_named(target):
            _refuse_own(target, own, None)
            subject = _subject(target, file)
        else:
            adapter = _adapted(target, own)
            subject = {"target": adapter, "name": _name(target), "identity": ""}
        try:
            return Particles(_core.smc(subject, words(given), show))
        finally:
            _close(adapter)


def load(folder: str | os.PathLike[str]) -> Result:
    """Loads the result from a run folder, written by this package or by the command line."""
    return Result(_core.load(os.fspath(folder)), None)


def settings() -> dict[str, str]:
    """Every setting of `adaann.fit` except those of the target, with its description and default."""
    return {name: about for name, about, _ in _core.settings()}


class _shown:
    """Shows the progress of a run, and removes the bar when the run ends."""

    def __init__(self, progress: bool | Callable[[float, str], object]) -> None:
        self._bar = Bar() if progress is True else None
        self._show = self._bar or (progress if callable(progress) else None)

    def __enter__(self) -> Callable[[float, str], object] | None:
        return self._show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_named(target: Any) -> bool:
    return isinstance(target, (str, os.PathLike, Density))


def _subject(target: Any, data: str | None) -> dict[str, Any]:
    """Describes a model file or a built-in density for the engine."""
    if isinstance(target, Density):
        return {"density": target.name, "parameters": list(target.parameters.items())}
    path = Path(target)
    if path.suffix == ".toml" or isinstance(target, os.PathLike):
        return {"model": path, "data": data}
    if data is not None:
        raise ValueError(f"data= applies only to model files (*.toml), but the target is {str(target)!r}")
    return {"density": str(target), "parameters": []}


def _refuse_own(target: Any, own: Mapping[str, Any], name: str | None) -> None:
    """Refuses arguments that apply only to functions."""
    given = [key for key, value in own.items() if value is not None and key != "vectorized"]
    given += ["name"] if name is not None else []
    if given:
        raise ValueError(f"{given[0]}= applies only to functions, but the target is {str(target)!r}")


def _adapted(target: Any, own: Mapping[str, Any]) -> Adapter:
    if target is _MISSING or target is None:
        raise TypeError(
            "adaann.fit needs a target: a function, a PyMC or Stan model, the path of a model file, or the name "
            "of a density"
        )
    return adapt(target, **own)


def _close(adapter: Adapter | None) -> None:
    """Stops the processes that an adapter has started itself."""
    close = getattr(adapter, "close", None)
    if close is not None:
        close()


def _chosen(setting: str, choice: str | Choice | None) -> dict[str, Any]:
    if choice is None:
        return {}
    return dict(choice) if isinstance(choice, Choice) else {setting: choice}


def _schedule(
    schedule: str | Choice | Callable[..., float] | None, settings: dict[str, Any]
) -> tuple[tuple[float, Callable[..., float]] | None, dict[str, Any]]:
    """The first t and the function of a schedule written in Python, or the settings of a named schedule."""
    if schedule is None or isinstance(schedule, (str, Choice)):
        return None, _chosen("schedule", schedule)
    if not callable(schedule):
        kind = type(schedule).__name__
        raise TypeError(f"schedule is a {kind}, but must be a name, one of adaann.schedules, or a function")
    first = float(settings.pop("t0", 0.01))
    return (first, schedule), {"method": "adaann"}


def _name(target: Any) -> str:
    """The name of the target in files and titles."""
    if type(target).__module__.split(".")[0] in ("pymc", "bridgestan") and not getattr(target, "name", ""):
        return "model"
    for attribute in ("name", "__name__"):
        found = getattr(target, attribute, None)
        if isinstance(found, str) and found and found != "<lambda>":
            return found
    return "target"

