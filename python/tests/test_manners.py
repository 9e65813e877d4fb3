"""Ctrl-C, threads, processes, memory, progress and logs: how a fit interacts with the rest of a program."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback

import numpy as np
import pytest

import adaann


def gaussian(x):
    return -0.5 * ((x - 1) ** 2).sum(axis=1), 1 - x


def slow(x):
    time.sleep(0.05)
    return gaussian(x)


def run_and_interrupt(code: str, presses: int) -> subprocess.CompletedProcess:
    """Runs a program that prints "begun", and sends Ctrl-C `presses` times."""
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell ignores the signal for background jobs, and child processes inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert program.stdout.readline() == "begun\n"
    for _ in range(presses):
        time.sleep(0.4)
        program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    return subprocess.CompletedProcess(program.args, program.returncode, out, err)


SLOW_FIT = """
    import time, numpy as np, adaann
    calls = 0
    def log_density(x):
        global calls
        calls += 1
        if calls == {begun}:
            print("begun", flush=True)
        time.sleep({pause})
        return -0.5 * ((x - 1) ** 2).sum(axis=1), 1 - x
    try:
        result = adaann.fit(log_density, dim=2, gradient=True, target_ess=1000000, most_draws=10000000)
        print(result.stopped, len(result.draws.weights) > 0)
    except KeyboardInterrupt as error:
        print(type(error).__name__)
"""


def test_ctrl_c_ends_the_run_and_keeps_what_there_is():
    done = run_and_interrupt(SLOW_FIT.format(begun=40, pause=0.02), 1)
    assert done.stdout == "True True\n", done.stderr


def test_the_second_ctrl_c_raises():
    done = run_and_interrupt(SLOW_FIT.format(begun=2, pause=1.5), 2)
    assert done.stdout in ("KeyboardInterrupt\n", "Stopped\n"), done.stderr


def test_the_interpreter_is_free_while_rust_works():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    ticking = threading.Thread(target=tick)
    ticking.start()
    started = time.monotonic()
    adaann.fit("funnel")
    took = time.monotonic() - started
    done.set()
    ticking.join()
    # At least a tenth of the ticks of an idle interpreter.
    assert len(ticks) > 0.1 * took / 0.005


def test_exceptions_come_back_as_themselves():
    class Mine(Exception):
        pass

    def broken(x):
        if (x[:, 0] > 0.5).any():
            raise Mine("half is too much")
        return -0.5 * (x**2).sum(axis=1)

    with pytest.raises(Mine, match="half is too much") as caught:
        adaann.fit(broken, names=["a", "b"])
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "broken" in frames
    (note,) = caught.value.__notes__
    a = float(note.split("a=")[1].split(",")[0])
    assert a > 0.5, note


def test_a_fit_in_a_thread_and_two_at_once():
    found = {}

    def run(seed):
        found[seed] = adaann.fit(gaussian, dim=2, gradient=True, seed=seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        alone = adaann.fit(gaussian, dim=2, gradient=True, seed=seed)
        assert np.array_equal(found[seed].draws.array, alone.draws.array)


def fit_in_a_child(seed: int) -> float:
    return adaann.fit(gaussian, dim=2, gradient=True, seed=seed).log_evidence.value


def test_a_fit_in_a_child_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(fit_in_a_child, (3,))
    assert there == fit_in_a_child(3)


MEMORY = """
    import ctypes, gc, os, time, adaann
    def log_density(x):
        return -0.5 * ((x - 1) ** 2).sum(axis=1), 1 - x
    threads = len(os.listdir("/proc/self/task"))
    for seed in range(10):
        adaann.fit(log_density, dim=5, gradient=True, seed=seed, draws=20000)
        gc.collect()
        # The threads of a fit end shortly after it, and use memory until then.
        until = time.monotonic() + 5
        while len(os.listdir("/proc/self/task")) > threads:
            assert time.monotonic() < until, "threads of a fit did not end"
            time.sleep(0.01)
        # Memory that the allocator caches is not a leak.
        ctypes.CDLL(None).malloc_trim(0)
        print(int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_ten_fits_leave_no_memory_behind():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(MEMORY)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sizes = [int(line) for line in done.stdout.split()]
    # The allocator's memory varies by two megabytes, whereas a leak accumulates.
    assert len(sizes) == 10 and min(sizes[7:]) < 1.05 * min(sizes[1:4]), sizes


def test_progress_is_told_and_nothing_else_is_printed(capfd):
    told = []
    adaann.fit(slow, dim=2, gradient=True, progress=lambda share, what: told.append((share, what)))
    assert told and all(0 <= share <= 1 and isinstance(what, str) for share, what in told)
    assert any("evaluations" in what for _, what in told)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    adaann.fit(slow, dim=2, gradient=True, progress=True, max_evaluations=3000)
    out, err = capfd.readouterr()
    assert out == "" and "%" in err and err.endswith("\r")


def test_lines_of_the_engine_are_logged(caplog, tmp_path):
    with caplog.at_level(logging.INFO, logger="adaann"):
        calls = 0

        def stops(x):
            nonlocal calls
            calls += 1
            if calls == 8:
                raise OSError("unplugged")
            return gaussian(x)

        for expected in (OSError, None):
            arguments = dict(dim=2, gradient=True, name="logged", out=tmp_path / "run", checkpoint="0s")
            if expected:
                with pytest.raises(expected):
                    adaann.fit(stops, **arguments)
            else:
                adaann.fit(stops, **arguments)
    assert "resuming" in caplog.text
