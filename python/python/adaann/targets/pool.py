"""NumPy functions evaluated by the workers of a pool."""

from __future__ import annotations

import multiprocessing.pool
import pickle
import sys
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np

from .adapter import Array, Parts, Target
from .numpy_function import NumpyFunction
from .worker import Lacking, Task, behave, work

#: The maximal number of pieces of a batch. It does not depend on the pool, so neither do the results.
PIECES = 64
#: The interval between two checks of the workers of a pool, in seconds.
LOOK = 0.05
#: How long to wait for the processes of a broken pool to exit, in seconds.
PATIENCE = 1.0


class Pooled(Target):
    """A target whose batches are cut into pieces that the workers of `pool` evaluate."""

    def __init__(self, target: NumpyFunction, pool: Any) -> None:
        super().__init__(target)
        self.has_prior = target.has_prior
        self.has_proper_prior = target.has_proper_prior
        self.gives_gradient = target.gives_gradient
        self.token = uuid.uuid4().hex
        self.pickled = _pickled(target)
        self.own: ProcessPoolExecutor | None = None
        if isinstance(pool, int) and not isinstance(pool, bool):
            if pool < 1:
                raise ValueError(f"pool is {pool}; expected a positive number of processes.")
            context = multiprocessing.get_context("spawn")
            pool = self.own = ProcessPoolExecutor(pool, context, initializer=behave)
        elif not callable(getattr(pool, "map", None)):
            raise TypeError(f"pool is {pool!r}; expected an object with a method map, or a number of processes.")
        _refuse_forks(pool)
        self.pool = pool
        self.notes = [*target.notes, f"over {_kind(pool)}"]

    def evaluate(self, points: Array, gradient: bool) -> Parts:
        """Evaluates the pieces on the workers, and concatenates the results in order."""
        tasks = [Task(self.token, piece, gradient) for piece in cut(points)]
        results: list[Any] = run(self.pool, tasks)
        while lacking := [i for i, result in enumerate(results) if isinstance(result, Lacking)]:
            # Send one copy of the target for each worker that lacks it. Another round serves workers that have not
            # received one.
            copies = len({results[i].process for i in lacking})
            again = [
                Task(self.token, tasks[i].points, gradient, self.pickled if k < copies else None)
                for k, i in enumerate(lacking)
            ]
            for i, result in zip(lacking, run(self.pool, again)):
                results[i] = result
        prior, likelihood, prior_gradient, likelihood_gradient = (
            None if parts[0] is None else np.concatenate(parts, axis=-1) for parts in zip(*results)
        )
        assert likelihood is not None
        return prior, likelihood, prior_gradient, likelihood_gradient

    def close(self) -> None:
        """Shuts down the pool if it was created here."""
        if self.own is not None:
            self.own.shutdown(cancel_futures=True)


def cut(points: Array) -> list[Array]:
    """Splits a batch into pieces that depend only on its length."""
    n = points.shape[1]
    count = min(n, PIECES)
    ends = [n * i // count for i in range(count + 1)]
    return [np.ascontiguousarray(points[:, a:b]) for a, b in zip(ends, ends[1:])]


def run(pool: Any, tasks: Sequence[Task]) -> list[Any]:
    """The results of the tasks, in order. Raises an error for a dead worker or a closed pool."""
    if isinstance(pool, multiprocessing.pool.Pool):
        return _run_watched(pool, tasks)
    processes = _processes(pool)
    try:
        answers = pool.map(work, tasks)
    except BrokenProcessPool as error:
        raise _dead("a process") from error
    except RuntimeError as error:
        if isinstance(pool, Executor) and "shutdown" in str(error):
            raise ValueError("The pool is closed; keep it open until adaann.fit has returned.") from error
        raise
    # Include processes that this call has started. A broken pool drops its list.
    processes |= _processes(pool)
    try:
        # Some pools return futures.
        return [answer.result() if callable(getattr(answer, "result", None)) else answer for answer in answers]
    except BrokenProcessPool as error:
        # The pool itself terminates the remaining processes with signal 15.
        codes = _exit_codes(processes)
        first = [f"process {pid}, exit code {code}" for pid, code in codes.items() if code not in (None, 0, -15)]
        raise _dead(first[0] if first else "a process") from error


def _processes(pool: Any) -> dict[int, Any]:
    """The processes of an executor by process id."""
    return dict(getattr(pool, "_processes", None) or {})


def _exit_codes(processes: dict[int, Any]) -> dict[int, int | None]:
    """Waits for processes to exit and returns their exit codes, which the executor may not have collected yet."""
    until = time.monotonic() + PATIENCE
    while True:
        codes = {pid: process.exitcode for pid, process in processes.items()}
        if None not in codes.values() or time.monotonic() > until:
            return codes
        time.sleep(LOOK / 5)


def _run_watched(pool: multiprocessing.pool.Pool, tasks: Sequence[Task]) -> list[Any]:
    """Watches the workers: a multiprocessing pool replaces a dead worker, but waits forever for its result."""
    processes: dict[str, Any] = {}
    lasting = getattr(pool, "_maxtasksperchild", None) is None
    workers = [] if isinstance(pool, multiprocessing.pool.ThreadPool) else getattr(pool, "_pool", [])
    processes.update((process.name, process) for process in workers)
    try:
        answers = pool.map_async(work, tasks, chunksize=1)
    except ValueError as error:
        raise ValueError("The pool is closed; keep it open until adaann.fit has returned.") from error
    while True:
        answers.wait(LOOK)
        if answers.ready():
            return answers.get()
        processes.update((process.name, process) for process in list(workers))
        for name, process in processes.items():
            code = process.exitcode
            # A worker that reaches `maxtasksperchild` exits with code 0.
            if code is not None and (code != 0 or lasting):
                raise _dead(f"{name}, exit code {code}")


def _dead(who: str) -> RuntimeError:
    return RuntimeError(
        f"A worker of the pool died ({who}); if it died at startup, the script must create the pool under "
        '`if __name__ == "__main__":`.'
    )


def _refuse_forks(pool: Any) -> None:
    if "jax" not in sys.modules or isinstance(pool, multiprocessing.pool.ThreadPool):
        return
    context = getattr(pool, "_mp_context", None) or getattr(pool, "_ctx", None)
    if context is not None and context.get_start_method() == "fork":
        raise ValueError(
            "The pool uses fork, but JAX is loaded and its threads do not survive a fork: "
            'create the pool with multiprocessing.get_context("spawn").'
        )


def _pickled(target: NumpyFunction) -> bytes:
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    try:
        pickled: bytes = pickler.dumps(target)
        return pickled
    except Exception as error:
        raise TypeError(
            f"The target cannot be pickled for the pool ({error}); define it at the top level of a module."
        ) from error


def _kind(pool: Any) -> str:
    workers = getattr(pool, "_max_workers", None) or getattr(pool, "_processes", None)
    count = f" of {workers} workers" if isinstance(workers, int) else ""
    return f"a {type(pool).__name__}{count}"
