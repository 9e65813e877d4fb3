"""What runs in a worker of a pool: one piece of a batch, with a target that is kept between calls."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from dataclasses import dataclass
from typing import Union

from .adapter import Adapter, Array, Parts

#: So many targets are kept.
KEPT = 4
_targets: dict[str, Adapter] = {}


@dataclass(frozen=True)
class Task:
    """A piece of a batch, for the target of this token."""

    token: str
    points: Array
    gradient: bool
    pickled: bytes | None = None
    """The target itself, for a worker that lacks it."""


@dataclass(frozen=True)
class Lacking:
    """The answer of a worker that does not have the target."""

    process: int


def behave() -> None:
    """Begins a worker: Ctrl-C is for the process that started it, whose end is its own, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(task: Task) -> Union[Parts, Lacking]:
    """Evaluates a piece, or asks for the target."""
    if task.token not in _targets:
        if task.pickled is None:
            return Lacking(os.getpid())
        while len(_targets) >= KEPT:
            del _targets[next(iter(_targets))]
        _targets[task.token] = pickle.loads(task.pickled)
    try:
        return _targets[task.token].evaluate(task.points, task.gradient)
    except Exception as error:
        raise _travelling(error)


def _travelling(error: Exception) -> Exception:
    """The error, or one that says the same if it would not survive the way back: such a one ends or
    hangs a pool."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        text = "".join(traceback.format_exception(error))
        return RuntimeError(f"A worker raised {type(error).__name__}, which cannot be pickled:\n{text}")
