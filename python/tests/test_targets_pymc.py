"""PyMC models."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
from known_density import points
from scipy import stats

from adaann.targets import adapt

pm = pytest.importorskip("pymc")

Y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
SE = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def eight_schools():
    with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, dims="school")
        theta = pm.Deterministic("theta", mu + tau * z, dims="school")
        pm.Normal("y", theta, SE, observed=Y, dims="school")
    return model


def truth(x):
    """Log prior and log likelihood of eight schools by SciPy. The coordinates are mu, log tau and z."""
    mu, tau, z = x[0], np.exp(x[1]), x[2:]
    prior = stats.norm.logpdf(mu, 0, 5) + stats.halfcauchy.logpdf(tau, 0, 5) + x[1] + stats.norm.logpdf(z).sum(0)
    theta = mu + tau * z
    likelihood = stats.norm.logpdf(Y[:, None], theta, SE[:, None])
    return prior, likelihood, theta


def slopes(x):
    """Central differences of `truth`, accurate to 1e-8 with steps of 1e-5."""
    out = []
    for d in range(len(x)):
        step = np.zeros((len(x), 1))
        step[d] = 1e-5
        up, down = truth(x + step), truth(x - step)
        out.append([(up[0] - down[0]) / 2e-5, (up[1].sum(0) - down[1].sum(0)) / 2e-5])
    return np.array(out).transpose(1, 0, 2)


@pytest.fixture(scope="module", params=["jax", "looped"])
def schools(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "looped":
            patch.setattr(importlib.util, "find_spec", lambda name: None)
        else:
            pytest.importorskip("jax")
        target = adapt(eight_schools())
        said = {"jax": "its JAX log density over batches", "looped": "one point at a time (JAX is not installed)"}
        assert target.notes[0].endswith(said[request.param])
        # These are compiled at their first call.
        target.constrain(points(1, dim=10)), target.log_likelihood(points(1, dim=10))
        yield target


def test_what_it_says_of_itself(schools) -> None:
    assert schools.names == ["mu", "tau_log__", *(f"z[{i}]" for i in range(1, 9))]
    assert schools.dim == 10 and schools.supports == [("real",)] * 10
    assert schools.has_prior and schools.has_proper_prior and schools.gives_gradient
    assert schools.dims == {"z": ("school",), "theta": ("school",), "y": ("school",)}
    assert list(schools.coords["school"]) == list("ABCDEFGH")
    np.testing.assert_array_equal(schools.observed_data["y"], Y)


def test_values_and_gradients(schools) -> None:
    x = points(70, dim=10)
    prior, likelihood, prior_slope, likelihood_slope = schools.evaluate(x, True)
    # PyMC computes logarithms of integer constants in single precision (log 5 here).
    np.testing.assert_allclose(prior, truth(x)[0], atol=1e-7)
    np.testing.assert_allclose(prior - prior[0], truth(x)[0] - truth(x)[0][0], atol=1e-12)
    np.testing.assert_allclose(likelihood, truth(x)[1].sum(0), rtol=1e-12)
    np.testing.assert_allclose(prior_slope, slopes(x)[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(likelihood_slope, slopes(x)[1], rtol=1e-6, atol=1e-6)
    alone = schools.evaluate(x, False)
    np.testing.assert_allclose(alone[1], likelihood, rtol=1e-13)
    assert alone[2:] == (None, None)


def test_constrained_values_and_single_terms(schools) -> None:
    x = points(5, dim=10)
    values = schools.constrain(x)
    assert {name: value.shape for name, value in values.items()} == {
        "mu": (5,), "tau": (5,), "z": (5, 8), "theta": (5, 8)
    }  # fmt: skip
    np.testing.assert_allclose(values["tau"], np.exp(x[1]))
    np.testing.assert_allclose(values["theta"], truth(x)[2].T)
    terms = schools.log_likelihood(x)
    np.testing.assert_allclose(terms["y"], truth(x)[1].T, rtol=1e-12)


def test_transforms_potentials_and_matrices() -> None:
    with pm.Model() as model:
        pm.Dirichlet("w", [2.0, 3.0, 4.0])
        pm.Uniform("u", -1, 3, shape=(2, 2))
        b = pm.Gamma("b", 2, 3)
        pm.Potential("extra", -0.5 * b)
    target = adapt(model)
    assert target.names == ["w_simplex__[1]", "w_simplex__[2]", "u_interval__[1,1]", "u_interval__[1,2]", "u_interval__[2,1]", "u_interval__[2,2]", "b_log__"]
    x = points(3, dim=7)
    values = target.constrain(x)
    assert values["w"].shape == (3, 3) and values["u"].shape == (3, 2, 2)
    np.testing.assert_allclose(values["w"].sum(1), 1)
    np.testing.assert_allclose(values["u"][:, 1, 0], -1 + 4 / (1 + np.exp(-x[4])))
    np.testing.assert_allclose(target.evaluate(x, True)[1], -0.5 * np.exp(x[6]))
    assert target.log_likelihood(x) == {}
    whole = model.compile_logp(mode="FAST_COMPILE")
    start = {"w_simplex__": x[:2, 0], "u_interval__": x[2:6, 0].reshape(2, 2), "b_log__": x[6, 0]}
    prior, likelihood, *_ = target.evaluate(x, False)
    np.testing.assert_allclose(prior[0] + likelihood[0], whole(start), rtol=1e-12)


def test_a_model_without_data() -> None:
    with pm.Model() as model:
        pm.Normal("a", 1, 2)
    prior, likelihood, _, slope = adapt(model).evaluate(np.array([[0.0, 3.0]]), True)
    np.testing.assert_allclose(prior, stats.norm.logpdf([0.0, 3.0], 1, 2))
    np.testing.assert_array_equal(likelihood, [0, 0])
    np.testing.assert_array_equal(slope, [[0, 0]])


def test_data_containers() -> None:
    with pm.Model(coords={"row": [10, 20, 30]}) as model:
        x = pm.Data("x", [1.0, 2.0, 4.0], dims="row")
        slope = pm.Normal("slope")
        pm.Normal("y", slope * x, 0.5, observed=[1.0, 2.5, 3.5], dims="row")
    target = adapt(model)
    expected = stats.norm.logpdf([1.0, 2.5, 3.5], 0.7 * np.array([1.0, 2.0, 4.0]), 0.5).sum()
    np.testing.assert_allclose(target.evaluate(np.array([[0.7]]), False)[1], [expected])
    np.testing.assert_array_equal(target.constant_data["x"], [1.0, 2.0, 4.0])


def test_flat_priors_are_named() -> None:
    with pm.Model() as model:
        mu = pm.Flat("mu")
        sigma = pm.HalfFlat("sigma")
        pm.Normal("y", mu, sigma, observed=[1.0, 2.0])
    target = adapt(model)
    assert not target.has_proper_prior
    assert target.notes[-1] == "no proper prior for mu, sigma"
    # The prior consists only of the Jacobian of the logarithm.
    np.testing.assert_allclose(target.evaluate(np.array([[5.0], [0.3]]), False)[0], [0.3])


def test_discrete_variables_are_refused() -> None:
    with pm.Model() as model:
        k = pm.Poisson("k", 3)
        c = pm.Bernoulli("c", 0.5)
        pm.Normal("y", k + c, 1, observed=2.0)
    with pytest.raises(ValueError) as refused:
        adapt(model)
    assert str(refused.value) == (
        "The model has discrete free variables (k, c), which adaann does not support; "
        "sum them out, as pymc.Mixture does."
    )


def test_other_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="A PyMC model defines these itself; remove names="):
        adapt(eight_schools(), names=["a"])


def test_jax_keeps_its_devices() -> None:
    """Importing PyMC requests 100 devices from JAX. A separate process shows whether this is undone."""
    pytest.importorskip("jax")
    code = """
import pymc as pm
from adaann.targets import adapt
with pm.Model() as model:
    pm.Normal("a")
assert adapt(model).notes == ["PyMC model, its JAX log density over batches"]
import jax
assert jax.device_count() == 1
"""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
