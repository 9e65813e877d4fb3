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


def test_jitted_functions_are_recognised() -> None:
    target = adapt(jax.jit(likelihood), dim=2)
    np.testing.assert_allclose(target.evaluate(points(3), False)[1], log_likelihood(points(3).T), rtol=1e-13)


def test_in_another_thread() -> None:
    """The engine calls from a thread of its own, and precision belongs to a thread in JAX."""
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
            "The target returned a number of type float32; float64 is expected: remove conversions to float32, "
            'and make constants after jax.config.update("jax_enable_x64", True), or they are float32.',
        ),
        (lambda x: jnp.int32(3), "The target returned a number of type int32; float64 is expected."),
        (lambda x: (x[0], x[1]), "The target returned a tuple of 2; a JAX function of one point returns one number."),
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
    """In a process of its own, since PyMC sets double precision where it is imported."""
    code = """
import jax, numpy as np, jax.numpy as jnp
from adaann.targets import adapt
got = adapt(lambda x: x[0] / 3, dim=1, backend="jax").evaluate(np.ones((1, 1)), False)[1]
assert got[0] == 1 / 3, got
assert jnp.ones(1).dtype == jnp.float32
"""
    subprocess.run([sys.executable, "-c", code], check=True)
