"""NumPy functions evaluated by the workers of a pool."""

import multiprocessing
import multiprocessing.pool
import os
import subprocess
import sys
import time
from collections import Counter as Count
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from known_density import (
    Counted,
    both,
    both_of_prior,
    dies,
    likelihood_slope,
    log_likelihood,
    log_prior,
    points,
    prior_slope,
    raises,
    raises_oddly,
)

from adaann.targets import adapt
from adaann.targets.pool import PIECES, cut

SPAWN = multiprocessing.get_context("spawn")
#: A dead worker is noticed immediately, but starting workers on a busy machine takes seconds.
SECONDS = 60


def make(kind: str):
    return SPAWN.Pool(2) if kind == "multiprocessing" else ProcessPoolExecutor(2, SPAWN)


@pytest.fixture(scope="module", params=["multiprocessing", "executor"])
def pool(request):
    with make(request.param) as made:
        yield made


def test_pieces_depend_on_the_length_alone() -> None:
    for n in (1, 3, PIECES, PIECES + 1, 1000):
        parts = cut(points(n))
        assert len(parts) == min(n, PIECES)
        assert max(p.shape[1] for p in parts) - min(p.shape[1] for p in parts) <= 1
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), points(n))


def test_values_and_gradients(pool) -> None:
    target = adapt(both, dim=2, prior=both_of_prior, gradient=True, pool=pool)
    assert target.has_prior and target.gives_gradient
    for n in (1, 7, 500):
        x = points(n)
        results = target.evaluate(x, True)
        expected = log_prior(x.T), log_likelihood(x.T), prior_slope(x.T).T, likelihood_slope(x.T).T
        for got, truth in zip(results, expected):
            np.testing.assert_array_equal(got, truth)
        assert target.evaluate(x, False)[2:] == (None, None)


def test_closures_of_this_module(pool) -> None:
    factor = 3.0
    x = points(11)
    target = adapt(lambda rows: factor * rows[:, 0], dim=2, pool=pool)
    np.testing.assert_array_equal(target.evaluate(x, False)[1], 3.0 * x[0])


def test_each_worker_reads_the_target_once(pool, tmp_path) -> None:
    readers = tmp_path / "readers"
    target = adapt(Counted(str(readers)), dim=2, pool=pool)
    for seed in range(5):
        target.evaluate(points(200, seed), False)
    counts = Count(readers.read_text().split())
    assert 1 <= len(counts) <= 2 and set(counts.values()) == {1}
    assert str(os.getpid()) not in counts


def test_exceptions_come_back_as_themselves(pool) -> None:
    x = points(300)
    x[0, 123] = 50.0
    with pytest.raises(ZeroDivisionError, match="the solver has stopped") as raised:
        adapt(raises, names=["mu", "beta"], pool=pool).evaluate(x, False)
    assert f"adaann: raised at the point mu=50.0, beta={float(x[1, 123])!r}" in raised.value.__notes__
    assert "in raises" in str(raised.value.__cause__)


def test_exceptions_that_cannot_travel(pool) -> None:
    with pytest.raises(RuntimeError, match="A worker raised Odd, which cannot be pickled"):
        adapt(raises_oddly, dim=2, pool=pool).evaluate(points(3), False)


@pytest.mark.parametrize("kind", ["multiprocessing", "executor"])
def test_a_dead_worker_is_an_error(kind: str) -> None:
    x = points(100)
    x[0] = -1.0
    with make(kind) as made:
        target = adapt(dies, dim=2, pool=made)
        target.evaluate(x, False)
        x[0, 60] = 2.0
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=r"A worker of the pool died \(.*exit code 3\)"):
            target.evaluate(x, False)
        assert time.monotonic() - start < SECONDS


@pytest.mark.parametrize("kind", ["multiprocessing", "executor"])
def test_a_closed_pool_is_an_error(kind: str) -> None:
    made = make(kind)
    target = adapt(log_likelihood, dim=2, pool=made)
    if kind == "executor":
        made.shutdown()
    else:
        made.close()
    with pytest.raises(ValueError) as refused:
        target.evaluate(points(3), False)
    assert str(refused.value) == "The pool is closed; keep it open until adaann.fit has returned."
    if kind == "multiprocessing":
        made.join()


def test_workers_that_end_by_themselves_are_no_error() -> None:
    with SPAWN.Pool(1, maxtasksperchild=2) as made:
        target = adapt(log_likelihood, dim=2, pool=made)
        x = points(5)
        np.testing.assert_array_equal(target.evaluate(x, False)[1], log_likelihood(x.T))


@pytest.mark.parametrize("made", [ThreadPoolExecutor(2), multiprocessing.pool.ThreadPool(2)])
def test_threads_will_do(made) -> None:
    with made:
        x = points(50)
        np.testing.assert_array_equal(adapt(log_likelihood, dim=2, pool=made).evaluate(x, False)[1], log_likelihood(x.T))


def test_a_pool_of_ones_own() -> None:
    class Serial:
        def map(self, function, tasks):
            return map(function, tasks)

    x = points(50)
    target = adapt(log_likelihood, dim=2, pool=Serial())
    np.testing.assert_array_equal(target.evaluate(x, False)[1], log_likelihood(x.T))


def test_a_number_makes_a_pool_that_close_ends() -> None:
    target = adapt(log_likelihood, dim=2, pool=1)
    x = points(5)
    np.testing.assert_array_equal(target.evaluate(x, False)[1], log_likelihood(x.T))
    assert target.notes[-1] == "over a ProcessPoolExecutor of 1 workers"
    target.close()
    with pytest.raises(ValueError, match="The pool is closed"):
        target.evaluate(x, False)


def test_a_pool_that_forks_is_refused_under_jax() -> None:
    pytest.importorskip("jax")
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, context) as made:
        with pytest.raises(ValueError) as refused:
            adapt(log_likelihood, dim=2, pool=made)
    assert str(refused.value) == (
        "The pool uses fork, but JAX is loaded and its threads do not survive a fork: "
        'create the pool with multiprocessing.get_context("spawn").'
    )


def test_a_pool_that_forks_will_do_without_jax() -> None:
    code = """
import multiprocessing, sys
from known_density import log_likelihood, points
from adaann.targets import adapt
assert "jax" not in sys.modules
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert (adapt(log_likelihood, dim=2, pool=pool).evaluate(points(9), False)[1] == log_likelihood(points(9).T)).all()
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=os.path.dirname(__file__), timeout=SECONDS)


def test_a_script_without_guard_is_an_error(tmp_path) -> None:
    """The workers import the script again, and die one after another."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from adaann.targets import adapt\n"
        "adapt(lambda x: x[:, 0].copy(), dim=1, pool=1).evaluate(np.zeros((1, 3)), False)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 1
    assert "the script must create the pool under `if __name__" in done.stderr


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (0, ValueError, "pool is 0; expected a positive number of processes."),
        (True, TypeError, "pool is True; expected an object with a method map, or a number of processes."),
    ],
)
def test_wrong_pools(given, error, sentence: str) -> None:
    with pytest.raises(error) as refused:
        adapt(log_likelihood, dim=2, pool=given)
    assert str(refused.value) == sentence


def test_what_cannot_be_pickled_is_said() -> None:
    import threading

    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"The target cannot be pickled for the pool \(cannot pickle"):
        adapt(lambda x: lock, dim=2, pool=1)
