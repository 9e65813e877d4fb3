"""JAX functions of one point."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from known_density import likelihood_slope, log_likelihood, log_prior, points, prior_slope

from adaann.targets import adapt

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402


def likelihood(x):
    return -1.5 * (x[1] - x[0] ** 2) ** 2 + 0.3 * x[0] * x[1]


def prior(x):
    return -((x[0] - 1.0) ** 2) / 2 - (x[1] + 2.0) ** 2 / 8


def test_values_and_gradients_in_double_precision() -> None:
    assert not jax.config.jax_enable_x64 or "pymc" in sys.modules
    target = adapt(likelihood, dim=2, prior=prior, backend="jax")
    assert target.has_prior and target.gives_gradient
    for n in (1, 64, 100, 700, 5000):
        x = points(n)
        results = target.evaluate(x, True)
        expected = log_prior(x.T), log_likelihood(x.T), prior_slope(x.T).T, likelihood_slope(x.T).T
        for got, truth in zip(results, expected):
            assert got.dtype == np.float64 and got.shape == truth.shape
            np.testing.assert_allclose(got, truth, rtol=1e-13, atol=1e-12)
        values = target.evaluate(x, False)
        assert values[2:] == (None, None)
        np.testing.assert_allclose(values[0], expected[0], rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(values[1], expected[1], rtol=1e-13, atol=1e-12)


def test_without_prior() -> None:
    x = points(70)
    target = adapt(likelihood, dim=2, backend="jax")
    first, value, second, slope = target.evaluate(x, True)
    assert first is None and second is None and not target.has_prior
    np.testing.assert_allclose(value, log_likelihood(x.T), rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(slope, likelihood_slope(x.T).T, rtol=1e-13, atol=1e-12)


def test_compilations_are_few() -> None:
    target = adapt(likelihood, dim=2, prior=prior, backend="jax")
    for n in [1, 2, 3, 50, 64, 65, 300, 512, 1000, 2000, 4096, 5000, 12345]:
        target.evaluate(points(n), True)
        target.evaluate(points(n), False)
    assert 0 < target.compilations <= 5
    traced = target.compilations
    target.evaluate(points(777), True)
    assert target.compilations == traced


def decay(x, steps=40, h=0.05):
    """Squares of a damped oscillation, by Heun's steps: p' = v, v' = -a p - b v."""

    def slope(state):
        return jnp.stack([state[1], -x[0] * state[0] - x[1] * state[1]])

    def one(state, _):
        first = slope(state)
        state = state + 0.5 * h * (first + slope(state + h * first))
        return state, state[0]

    return -jnp.sum(jax.lax.scan(one, jnp.stack([1.0 + 0.0 * x[0], x[1]]), None, length=steps)[1] ** 2)


def decay_by_numpy(x, steps=40, h=0.05):
    """The same over a batch (2, n), and its derivatives by complex steps."""

    def value(a, b):
        p, v, total = np.ones_like(a), b.copy(), 0.0
        for _ in range(steps):
            dp, dv = v, -a * p - b * v
            q, w = p + h * dp, v + h * dv
            p, v = p + 0.5 * h * (dp + w), v + 0.5 * h * (dv - a * q - b * w)
            total = total - p**2
        return total

    a, b = x.astype(complex)
    slopes = [value(a + 1e-30j, b).imag / 1e-30, value(a, b + 1e-30j).imag / 1e-30]
    return value(a, b).real, np.array(slopes)


def kernels(target) -> list[bool]:
    """For each compiled program, whether XLA runs it as one kernel."""
    batch = target.batch
    programs = [*batch._numbers._compiled.values(), *batch._slopes._compiled.values()]
    return ["xla_cpu_small_call" in program.as_text() for program in programs]


def test_small_loops_are_one_kernel() -> None:
    target = adapt(decay, dim=2, backend="jax")
    for n in (1, 5, 48, 64, 700):
        x = points(n)
        value, slope = decay_by_numpy(x)
        np.testing.assert_allclose(target.evaluate(x, True)[1], value, rtol=1e-12)
        np.testing.assert_allclose(target.evaluate(x, True)[3], slope, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(target.evaluate(x, False)[1], value, rtol=1e-12)
    assert kernels(target) == [True] * 5


@pytest.mark.parametrize(
    "inner",
    [
        lambda y: jnp.sort(y),
        lambda y: jnp.linalg.cholesky(jnp.eye(3) + y[:, None] * y)[2],
        lambda y: jnp.sin(jnp.arange(9.0).reshape(3, 3) @ y),
        lambda y: y.at[jnp.argmax(y)].multiply(0.5),
        lambda y: jnp.abs(jnp.fft.fft(y)),
        lambda y: jnp.sin(jnp.concatenate([y, jnp.ones(300_000)]))[:3],
    ],
    ids=["sort", "cholesky", "product", "scatter", "fft", "large"],
)
def test_other_loops_are_run_as_ever(inner, capfd) -> None:
    """Loops that XLA cannot compile into one kernel, or runs faster outside of one, and prints no warning about."""

    def function(x):
        start = jnp.stack([x[0], x[1], x[0] * x[1]])
        return -jnp.sum(jax.lax.fori_loop(0, 5, lambda _, y: 0.9 * inner(y) + 0.1 * y, start) ** 2)

    target, x = adapt(function, dim=2, backend="jax"), points(5)
    with jax.enable_x64(True):
        expected, slopes = jax.jit(jax.vmap(jax.value_and_grad(function)))(x.T)
    found = target.evaluate(x, True)
    np.testing.assert_allclose(found[1], expected, rtol=1e-12)
    np.testing.assert_allclose(found[3], slopes.T, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(target.evaluate(x, False)[1], expected, rtol=1e-12)
    assert kernels(target) == [False, False]
    assert capfd.readouterr() == ("", "")


def test_no_loop_is_left_as_it_is() -> None:
    target = adapt(likelihood, dim=2, backend="jax")
    target.evaluate(points(5), True)
    assert kernels(target) == [False]


def refuse(_) -> bool:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("name", "value"), [("NO_LIBRARY", {"xla_cpu_of_another_version": True}), ("_is_small_loop", refuse)]
)
def test_without_a_word_of_kernels(name: str, value, monkeypatch) -> None:
    """Other versions of JAX may lack this option, or the cost of a program."""
    from adaann.targets import jax_program

    monkeypatch.setattr(jax_program, name, value)
    target, x = adapt(decay, dim=2, backend="jax"), points(5)
    np.testing.assert_allclose(target.evaluate(x, True)[1], decay_by_numpy(x)[0], rtol=1e-12)
    assert kernels(target) == [False]


def test_jitted_functions_are_recognised() -> None:
    target = adapt(jax.jit(likelihood), dim=2)
    np.testing.assert_allclose(target.evaluate(points(3), False)[1], log_likelihood(points(3).T), rtol=1e-13)


def test_in_another_thread() -> None:
    """The engine calls from another thread, and the precision of JAX is a setting of the thread."""
    target = adapt(likelihood, dim=2, backend="jax")
    target.evaluate(points(3), True)
    with ThreadPoolExecutor(1) as threads:
        value = threads.submit(target.evaluate, points(3), True).result()[1]
    np.testing.assert_allclose(value, log_likelihood(points(3).T), rtol=1e-13)
    assert target.compilations == 1


def test_without_gradient() -> None:
    target = adapt(likelihood, dim=2, backend="jax", gradient=False)
    assert not target.gives_gradient
    np.testing.assert_allclose(target.evaluate(points(3), False)[1], log_likelihood(points(3).T), rtol=1e-13)


def test_outside_of_the_support_and_lost() -> None:
    target = adapt(lambda x: jnp.where(x[0] > 0, jnp.log(x[1]), -jnp.inf), dim=2, backend="jax")
    value = target.evaluate(np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0]]), True)[1]
    np.testing.assert_array_equal(value, [-np.inf, np.nan, 0.0])


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (
            lambda x: jnp.float32(1) * x[0].astype(jnp.float32),
            "The target returned a number of type float32; expected float64: remove conversions to float32, "
            'and create constants after jax.config.update("jax_enable_x64", True).',
        ),
        (lambda x: jnp.int32(3), "The target returned a number of type int32; expected float64."),
        (
            lambda x: (x[0], x[1]),
            "The target returned a tuple of 2; a JAX function of one point must return one number.",
        ),
    ],
)
def test_wrong_results(function, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        adapt(function, dim=2, backend="jax").evaluate(points(3), True)
    assert str(refused.value) == sentence


def test_a_vector_is_refused() -> None:
    with pytest.raises(ValueError, match=r"of shape \(2,\) and type float64; a JAX function of one point"):
        adapt(lambda x: 2 * x, dim=2, backend="jax").evaluate(points(3), False)


def test_errors_while_tracing_name_no_point() -> None:
    def fails(x):
        raise KeyError("mu")

    with pytest.raises(KeyError) as raised:
        adapt(fails, dim=2, backend="jax").evaluate(points(9), True)
    assert not any("adaann" in note for note in getattr(raised.value, "__notes__", []))


def test_other_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="pool= is for NumPy functions"):
        adapt(likelihood, dim=2, backend="jax", pool=2)
    with pytest.raises(ValueError, match="the gradient is computed"):
        adapt(likelihood, dim=2, backend="jax", gradient=likelihood_slope)


def test_the_users_precision_is_left_alone() -> None:
    """Runs in a separate process, because importing PyMC enables double precision."""
    code = """
import jax, numpy as np, jax.numpy as jnp
from adaann.targets import adapt
got = adapt(lambda x: x[0] / 3, dim=1, backend="jax").evaluate(np.ones((1, 1)), False)[1]
assert got[0] == 1 / 3, got
assert jnp.ones(1).dtype == jnp.float32
"""
    subprocess.run([sys.executable, "-c", code], check=True)
