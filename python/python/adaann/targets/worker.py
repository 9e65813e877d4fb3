"""The code that pool workers run: it evaluates a piece of a batch and caches targets between calls."""

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

#: The maximal number of cached targets.
KEPT = 4
_targets: dict[str, Adapter] = {}


@dataclass(frozen=True)
class Task:
    """A piece of a batch, for the target with this token."""

    token: str
    points: Array
    gradient: bool
    pickled: bytes | None = None
    """The target itself, sent only to a worker that lacks it."""


@dataclass(frozen=True)
class Lacking:
    """The reply of a worker that does not have the target."""

    process: int


def behave() -> None:
    """Initialises a worker: it ignores Ctrl-C, which the parent handles, and exits when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(task: Task) -> Union[Parts, Lacking]:
    """Evaluates a piece, or requests the target."""
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
    """The error, or a substitute with the same text if it cannot be pickled.

    An exception that cannot be pickled breaks or hangs a pool.
    """
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        text = "".join(traceback.format_exception(error))
        return RuntimeError(f"A worker raised {type(error).__name__}, which cannot be pickled:\n{text}")
