"""Fits of every kind of target, compared with exact results."""

from __future__ import annotations

import numpy as np
import pytest

import adaann

# A correlated Gaussian times a constant, so that signs, scales and log Z can all be wrong.
MEAN = np.array([1.0, -2.0])
COVARIANCE = np.array([[1.0, 0.6], [0.6, 2.0]])
PRECISION = np.linalg.inv(COVARIANCE)
LOG_Z = 0.5 * np.log(np.linalg.det(2 * np.pi * COVARIANCE)) + 0.7


def gaussian(x):
    away = x - MEAN
    return 0.7 - 0.5 * np.einsum("ni,ij,nj->n", away, PRECISION, away)


def gaussian_with_gradient(x):
    return gaussian(x), -(x - MEAN) @ PRECISION


def check(result, tolerance=5.0):
    """The result is within five of its own standard errors."""
    # A function with one mode found gives no bound on how narrow another mode may be.
    codes = {reason.code for reason in result.verdict.reasons}
    assert codes <= {"narrow-modes-not-excluded"}, str(result.verdict)
    value, error = result.log_evidence
    assert abs(value - LOG_Z) < tolerance * error + 1e-3
    for d, row in enumerate(result.table()):
        assert abs(row["mean"] - MEAN[d]) < tolerance * row["mean_error"]
        assert abs(row["sd"] - COVARIANCE[d, d] ** 0.5) < tolerance * row["sd_error"]


@pytest.mark.parametrize("gradient", [None, True])
def test_a_numpy_function(gradient):
    function = gaussian_with_gradient if gradient else gaussian
    result = adaann.fit(function, names=["a", "b"], gradient=gradient, seed=3)
    check(result)
    assert list(result.draws) == ["a", "b"]
    assert np.isclose(result.draws.weights.sum(), 1.0)
    covariance = np.cov(result.resampled().array.T)
    assert abs(covariance[0, 1] - 0.6) < 0.15


def test_a_function_of_one_point_is_told_its_price():
    with pytest.warns(UserWarning, match="one"):
        result = adaann.fit(
            lambda x: float(gaussian(x[None])[0]), names=["a", "b"], vectorized=False, max_evaluations=4000
        )
    assert result.evaluations < 8000


def test_prior_and_likelihood_apart():
    # Ten measurements of mean 1 with unit noise, and a prior N(0, 1): exact by conjugacy.
    data = np.linspace(-1, 3, 10)

    def prior(x):
        return -0.5 * x[:, 0] ** 2 - 0.5 * np.log(2 * np.pi)

    def likelihood(x):
        return -0.5 * ((data - x) ** 2).sum(axis=1) - 5 * np.log(2 * np.pi)

    result = adaann.fit(likelihood, prior=prior, names=["mu"], seed=2)
    row = result.table()[0]
    assert abs(row["mean"] - data.sum() / 11) < 5 * row["mean_error"]
    exact = -5 * np.log(2 * np.pi) - 0.5 * np.log(11) - 0.5 * ((data**2).sum() - data.sum() ** 2 / 11)
    value, error = result.log_evidence
    assert abs(value - exact) < 5 * error + 1e-3


def test_bounds_keep_the_mass_inside():
    # An exponential of rate 2 and a share with density 6 p (1 - p).
    def log_density(x):
        rate, share = x.T
        return -2 * rate + np.log(share) + np.log1p(-share)

    result = adaann.fit(log_density, names=["rate", "share"], bounds={"rate": (0, None), "share": (0, 1)})
    assert result.draws["rate"].min() > 0 and 0 < result.draws["share"].min() < result.draws["share"].max() < 1
    rate, share = result.table()
    assert abs(rate["mean"] - 0.5) < 5 * rate["mean_error"]
    assert abs(share["mean"] - 0.5) < 5 * share["mean_error"]
    value, error = result.log_evidence
    assert abs(value - np.log(0.5 / 6)) < 5 * error + 1e-3


def test_two_modes_of_unequal_weight():
    # Weights 0.2 and 0.8, the lighter one narrower: what a single chain gets wrong.
    def log_density(x):
        first = np.log(0.2) - 0.5 * ((x + 4) ** 2 / 0.25 + np.log(2 * np.pi * 0.25)).sum(axis=1)
        second = np.log(0.8) - 0.5 * ((x - 4) ** 2 + np.log(2 * np.pi)).sum(axis=1)
        return np.logaddexp(first, second)

    result = adaann.fit(log_density, dim=3, seed=5)
    assert result.verdict
    heavy, light = result.modes
    assert abs(heavy.weight - 0.8) < 5 * heavy.weight_error
    assert abs(light.weight - 0.2) < 5 * light.weight_error
    value, error = result.log_evidence
    assert abs(value) < 5 * error + 1e-3


def test_jax_and_torch_agree_with_numpy():
    jnp = pytest.importorskip("jax.numpy")
    torch = pytest.importorskip("torch")
    precision = torch.from_numpy(PRECISION)
    mean = torch.from_numpy(MEAN)

    def by_jax(x):
        away = x - MEAN
        return 0.7 - 0.5 * jnp.dot(away, jnp.dot(PRECISION, away))

    def by_torch(x):
        return 0.7 - 0.5 * (x - mean) @ precision @ (x - mean)

    ours = adaann.fit(gaussian_with_gradient, dim=2, gradient=True, seed=9)
    for function, backend in [(by_jax, "jax"), (by_torch, "torch")]:
        result = adaann.fit(function, dim=2, backend=backend, seed=9)
        check(result)
        # The same numbers but for the last digits of the log density.
        assert abs(result.log_evidence.value - ours.log_evidence.value) < 1e-6


def test_algorithm_1_with_a_flow_and_a_schedule():
    result = adaann.fit(
        gaussian_with_gradient, dim=2, gradient=True,
        flow=adaann.flows.affine(), schedule=adaann.schedules.adaann(t0=0.1, tau=0.5), refine=300, seed=1,
    )  # fmt: skip
    assert result.method == "adaann" and result.info["steps"] > 2
    assert "planar" in adaann.flows.names() and "ess" in adaann.schedules.names()
    with pytest.raises(AttributeError, match="there is no flow called plannar"):
        adaann.flows.plannar()


def test_a_schedule_of_ones_own():
    seen = []

    def halving(t, log_density, weights):
        seen.append((t, len(log_density), weights))
        return 0.5 * (t + 1) if t < 0.9 else 1.0

    result = adaann.fit(
        gaussian_with_gradient, dim=2, gradient=True, schedule=halving, t0=0.2, refine=200, check_particles=0
    )
    assert [round(t, 3) for t, _, _ in seen] == [0.2, 0.6, 0.8, 0.9]
    assert all(count > 1 for _, count, _ in seen)
    assert result.info["steps"] >= 4

    def broken(t, log_density, weights):
        raise LookupError("no more temperatures")

    with pytest.raises(LookupError, match="no more temperatures"):
        adaann.fit(gaussian_with_gradient, dim=2, gradient=True, schedule=broken)


def test_particles():
    found = adaann.smc(gaussian_with_gradient, dim=2, gradient=True, particles=500, seed=4)
    value, error = found.log_evidence
    assert abs(value - LOG_Z) < 5 * error
    with pytest.raises(ValueError, match="particles"):
        adaann.smc(gaussian_with_gradient, dim=2, gradient=True, particles="many")


def test_densities_know_their_answers():
    assert "two-moons" in adaann.densities()
    density = adaann.density("gaussian", dim=3)
    assert density.names == ["x1", "x2", "x3"]
    result = adaann.fit(density)
    value, error = result.log_evidence
    assert abs(value - density.log_evidence) < 5 * error + 1e-3
    at = np.zeros((4, 3)) + 0.3
    assert np.allclose(density.log_density(at), result.target_log_density(at))
    with pytest.raises(ValueError, match="did you mean 'two-moons'"):
        adaann.density("two-mons")


def test_the_approximation_is_a_density():
    result = adaann.fit(gaussian_with_gradient, dim=2, gradient=True)
    side = np.linspace(-9, 9, 181)
    grid = np.stack(np.meshgrid(side + MEAN[0], side + MEAN[1]), axis=-1).reshape(-1, 2)
    mass = np.exp(result.log_density(grid)).sum() * (side[1] - side[0]) ** 2
    assert abs(mass - 1) < 0.02  # Student tails reach beyond the grid.
    assert result.log_density(MEAN).shape == ()
    assert np.allclose(result.target_log_density(grid), gaussian(grid))


def test_seeds_fix_the_bits_and_threads_do_not_change_them():
    one, two = (
        adaann.fit(gaussian_with_gradient, dim=2, gradient=True, seed=11, threads=threads) for threads in (1, 2)
    )
    other = adaann.fit(gaussian_with_gradient, dim=2, gradient=True, seed=12)
    assert np.array_equal(one.draws.array, two.draws.array)
    assert not np.array_equal(one.draws.array[:50], other.draws.array[:50])
