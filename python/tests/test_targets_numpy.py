"""Functions of NumPy arrays."""

import math
import warnings

import numpy as np
import pytest
from known_density import both, both_of_prior, likelihood_slope, log_likelihood, log_prior, points, prior_slope

from adaann.targets import adapt


def test_values_alone() -> None:
    target = adapt(log_likelihood, dim=2)
    x = points(17)
    prior, likelihood, *slopes = target.evaluate(x, False)
    assert prior is None and slopes == [None, None]
    assert not target.has_prior and not target.gives_gradient
    np.testing.assert_array_equal(likelihood, log_likelihood(x.T))


@pytest.mark.parametrize("how", ["returned", "apart"])
def test_prior_and_gradients(how: str) -> None:
    if how == "returned":
        target = adapt(both, dim=2, prior=both_of_prior, gradient=True)
    else:
        target = adapt(log_likelihood, dim=2, prior=log_prior, gradient=(likelihood_slope, prior_slope))
    assert target.has_prior and target.gives_gradient
    for n in (1, 5, 1000):
        x = points(n)
        results = target.evaluate(x, True)
        expected = log_prior(x.T), log_likelihood(x.T), prior_slope(x.T).T, likelihood_slope(x.T).T
        for got, truth in zip(results, expected):
            np.testing.assert_array_equal(got, truth)
        assert target.evaluate(x, False)[2:] == (None, None)


def test_a_gradient_of_its_own_without_prior() -> None:
    x = points(3)
    result = adapt(log_likelihood, dim=2, gradient=likelihood_slope).evaluate(x, True)
    np.testing.assert_array_equal(result[3], likelihood_slope(x.T).T)


def test_one_point_at_a_time() -> None:
    with pytest.warns(UserWarning, match="interpreter is called once for each point"):
        target = adapt(
            lambda x: (float(log_likelihood(x[None])[0]), likelihood_slope(x[None])[0]),
            dim=2,
            gradient=True,
            vectorized=False,
        )
    x = points(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, values, _, slopes = target.evaluate(x, True)
        target.evaluate(x, False)
    np.testing.assert_array_equal(values, log_likelihood(x.T))
    np.testing.assert_array_equal(slopes, likelihood_slope(x.T).T)


def test_the_points_cannot_be_changed() -> None:
    def careless(x):
        x[:] = 0

    x = points(4)
    before = x.copy()
    with pytest.raises(ValueError, match="read-only"):
        adapt(careless, dim=2).evaluate(x, False)
    np.testing.assert_array_equal(x, before)
    x[:] = 1  # still writable for their owner


def test_infinities_and_nan_pass() -> None:
    target = adapt(lambda x: np.array([-np.inf, np.nan, 1.0]), dim=1)
    np.testing.assert_array_equal(target.evaluate(points(3, dim=1), False)[1], [-np.inf, np.nan, 1.0])


def wrong(function, **more):
    target = adapt(function, names=["a", "b"], **more)
    with pytest.raises((TypeError, ValueError)) as refused:
        target.evaluate(points(3), bool(more.get("gradient")))
    return str(refused.value)


@pytest.mark.parametrize(
    ("returns", "sentence"),
    [
        (
            lambda x: np.zeros((3, 1)),
            "The target returned an array of shape (3, 1) and type float64; "
            "expected a float64 array of shape (n,), here (3,).",
        ),
        (
            lambda x: [0.0, 0.0, 0.0],
            "The target returned a list of 3; expected a float64 array of shape (n,), here (3,).",
        ),
        (
            lambda x: np.zeros(3, complex),
            "The target returned an array of shape (3,) and type complex128; "
            "expected a float64 array of shape (n,), here (3,).",
        ),
        (
            lambda x: np.zeros(3, np.float32),
            "The target returned an array of shape (3,) and type float32; "
            "expected a float64 array of shape (n,), here (3,).",
        ),
        (
            lambda x: 0.5,
            "The target returned a float; expected a float64 array of shape (n,), here (3,) "
            "(for a function of one point, pass vectorized=False).",
        ),
        (lambda x: None, "The target returned None; expected a float64 array of shape (n,), here (3,)."),
        (
            both,
            "The target returned a tuple of 2; expected a float64 array of shape (n,), here (3,) "
            "(for a function that returns values and gradients, pass gradient=True).",
        ),
    ],
)
def test_wrong_results(returns, sentence: str) -> None:
    assert wrong(returns) == sentence


def test_wrong_gradients() -> None:
    assert wrong(lambda x: (np.zeros(3), np.zeros((2, 3))), gradient=True) == (
        "As its gradient the target returned an array of shape (2, 3) and type float64; "
        "expected a float64 array of shape (n, d), here (3, 2)."
    )
    assert wrong(log_likelihood, gradient=True) == (
        "The target returned an array of shape (3,) and type float64; "
        "with gradient=True, expected a tuple of values and gradients."
    )
    assert wrong(log_likelihood, gradient=lambda x: np.zeros(3)) == (
        "The gradient of the target returned an array of shape (3,) and type float64; "
        "expected a float64 array of shape (n, d), here (3, 2)."
    )


def test_a_wrong_prior_is_named() -> None:
    assert wrong(log_likelihood, prior=lambda x: np.zeros(2)).startswith("The prior returned an array of shape (2,)")


def test_wrong_number_of_one_point() -> None:
    with pytest.warns(UserWarning):
        sentence = wrong(lambda x: 1j, vectorized=False)
    assert sentence == "The target returned a complex; expected one real number for one point."


def test_arrays_of_other_libraries_are_pointed_to_their_backend() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert 'pass backend="jax"' in wrong(lambda x: jnp.zeros(3))


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="cannot take a str as target"):
        adapt("model.stan", dim=2)
    with pytest.raises(ValueError, match="backend is 'tensorflow'; expected one of 'numpy', 'jax', 'torch'"):
        adapt(log_likelihood, dim=2, backend="tensorflow")
    with pytest.raises(TypeError, match="gradient= is True or two functions"):
        adapt(log_likelihood, dim=2, prior=log_prior, gradient=likelihood_slope)
    with pytest.raises(TypeError, match="gradient is 3; expected True or a function"):
        adapt(log_likelihood, dim=2, gradient=3)


@pytest.mark.parametrize("vectorized", [True, False])
@pytest.mark.filterwarnings("ignore:adaann")
@pytest.mark.parametrize("at", [0, 37, 99])
def test_the_point_that_raises_is_named(vectorized: bool, at: int) -> None:
    x = points(100)
    x[0, at] = 11.5
    calls = 0

    def batch(rows):
        nonlocal calls
        calls += 1
        if np.any(rows[..., 0] > 11):
            raise ZeroDivisionError("the solver has stopped")
        return np.zeros(len(rows)) if rows.ndim == 2 else 0.0

    with pytest.raises(ZeroDivisionError, match="the solver has stopped") as raised:
        adapt(batch, names=["mu", "beta"], vectorized=vectorized).evaluate(x, False)
    assert raised.value.__notes__ == [f"adaann: raised at the point mu=11.5, beta={float(x[1, at])!r}"]
    assert calls <= (1 + 2 * math.ceil(math.log2(100)) if vectorized else at + 1)


def test_what_is_not_raised_again_is_said() -> None:
    def sometimes(rows):
        if len(rows) == 40:
            raise MemoryError
        return np.zeros(len(rows))

    with pytest.raises(MemoryError) as raised:
        adapt(sometimes, dim=2).evaluate(points(40), False)
    assert raised.value.__notes__ == [
        "adaann: raised for 40 points at once (of a batch of 40), but not for either half of them alone."
    ]


def test_many_coordinates_are_cut_short() -> None:
    def always(rows):
        raise ValueError("no")

    with pytest.raises(ValueError) as raised:
        adapt(always, dim=30).evaluate(points(1, dim=30), False)
    (note,) = raised.value.__notes__
    assert note.count("=") == 20 and note.endswith(" and 10 more coordinates")
