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
    """Approximates a density that is known up to a constant, and says how far to trust the answer.

    `target` is one of

    - a NumPy function of a batch, `(n, d) -> (n,)`, that returns log p; with `gradient=True` it returns the
      gradient `(n, d)` as well, else that is found by differences, at 2 d + 1 points for each one;
      `vectorized=False` for a function of one point `(d,) -> float`;
    - a JAX function of one point (jitted, or with `backend="jax"`), or a PyTorch one (`backend="torch"`);
    - a PyMC model, or a Stan model by BridgeStan;
    - the path of a model file, with `data` in place of its own: a path, a dict of columns, a table of pandas or
      polars;
    - the name of a density with known answers, or `adaann.density(name, ...)`.

    For functions, `names` (or `dim`) says what the coordinates are, `bounds={"sigma": (0, None)}` and
    `supports={"w": "simplex"}` where they live. With `prior`, a function of the same kind, `target` is the log
    likelihood alone, and annealing leads from the prior to the posterior. `pool` is anything with a method `map`,
    or a number of processes: pieces of each batch are computed there.

    All else are settings of the command line, by their names there with `_` for `-`: `seed`, `method`,
    `target_ess`, `search`, `check`, `max_evaluations`, `max_time`, `out`, ...; `adaann.settings()` has them all.
    `search=10` searches ten times as long for modes. `flow` and `schedule` choose the paper's Algorithm 1
    (`adaann.flows`, `adaann.schedules`). With `out` the run folder is written on the way, and a run that was
    killed goes on when it is called again.

    The first Ctrl-C ends the run and returns what there is (`result.stopped`); the second raises
    `KeyboardInterrupt`. `progress=True` shows a bar.
    """
    rule, chosen = _schedule(schedule, settings)
    given = {**settings, **_chosen("flow", flow), **chosen}
    if isinstance(gradient, str):
        # How Algorithm 1 estimates the gradient of its loss is a setting of the same name.
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
                raise ValueError("data belongs to a model file; a function has its data within itself")
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
    """Samples by sequential Monte Carlo, with the schedules of the paper: particles, and the evidence.

    Targets are those of `adaann.fit`; settings are those of `adaann smc`: `particles`, `islands`, `move`, `seed`,
    `tau`, ...
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
    """The result in a run folder, whoever wrote it: this package or the command line."""
    return Result(_core.load(os.fspath(folder)), None)


def settings() -> dict[str, str]:
    """Every setting of `adaann.fit` beside the target's own, with what it is for and its default."""
    return {name: about for name, about, _ in _core.settings()}


class _shown:
    """What shows how far a run is, and is taken away when it is over."""

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
    """A model file, or a density by its name."""
    if isinstance(target, Density):
        return {"density": target.name, "parameters": list(target.parameters.items())}
    path = Path(target)
    if path.suffix == ".toml" or isinstance(target, os.PathLike):
        return {"model": path, "data": data}
    if data is not None:
        raise ValueError(f"data belongs to a model file, and {str(target)!r} is no path of one (*.toml)")
    return {"density": str(target), "parameters": []}


def _refuse_own(target: Any, own: Mapping[str, Any], name: str | None) -> None:
    """Refuses what says something of a function where there is none."""
    given = [key for key, value in own.items() if value is not None and key != "vectorized"]
    given += ["name"] if name is not None else []
    if given:
        raise ValueError(f"{given[0]} belongs to a function, but the target is {str(target)!r}")


def _adapted(target: Any, own: Mapping[str, Any]) -> Adapter:
    if target is _MISSING or target is None:
        raise TypeError(
            "adaann.fit needs a target: a function, a PyMC or Stan model, the path of a model file, or the name "
            "of a density"
        )
    return adapt(target, **own)


def _close(adapter: Adapter | None) -> None:
    """Ends the processes that an adapter has started itself."""
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
    """The rule that a Python function is, or the settings of a schedule by its name."""
    if schedule is None or isinstance(schedule, (str, Choice)):
        return None, _chosen("schedule", schedule)
    if not callable(schedule):
        kind = type(schedule).__name__
        raise TypeError(f"schedule is a {kind}, but must be a name, one of adaann.schedules, or a function")
    first = float(settings.pop("t0", 0.01))
    return (first, schedule), {"method": "adaann"}


def _name(target: Any) -> str:
    """A name for files and titles."""
    if type(target).__module__.split(".")[0] in ("pymc", "bridgestan") and not getattr(target, "name", ""):
        return "model"
    for attribute in ("name", "__name__"):
        found = getattr(target, attribute, None)
        if isinstance(found, str) and found and found != "<lambda>":
            return found
    return "target"

