"""PyMC models, compared with PyMC's own sampler and exact results."""

from __future__ import annotations

import numpy as np
import pytest

import adaann

pm = pytest.importorskip("pymc")

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@pytest.fixture(scope="module")
def schools():
    with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        raw = pm.Normal("raw", 0, 1, dims="school")
        theta = pm.Deterministic("theta", mu + tau * raw, dims="school")
        pm.Normal("y", theta, ERRORS, observed=EFFECTS, dims="school")
    return model


def test_eight_schools(schools):
    result = adaann.fit(schools, seed=1)
    # The variables of PyMC's sampler: tau, not its logarithm.
    assert list(result.draws) == ["mu", "tau", "raw", "theta"] and result.draws["tau"].min() > 0
    assert result.draws["theta"].shape[1:] == (8,) and all("tau" in mode.location for mode in result.modes)
    data = result.to_arviz()
    assert result.summary().loc["tau", "mean"] == pytest.approx(float(data.posterior["tau"].mean()), abs=0.15)
    # The reference draws of posteriordb, non-centred: means with the errors of 10,000 draws.
    assert float(data.posterior["mu"].mean()) == pytest.approx(4.41, abs=0.3)
    assert float(data.posterior["tau"].mean()) == pytest.approx(3.6, abs=0.3)
    assert data.posterior["theta"].dims == ("chain", "draw", "school")
    assert list(data.posterior["school"].values) == list("ABCDEFGH")
    first = float(data.posterior["theta"].sel(school="A").mean())
    assert first == pytest.approx(6.15, abs=0.4)
    assert set(data.posterior.data_vars) == {"mu", "tau", "raw", "theta"}
    assert np.allclose(data.observed_data["y"], EFFECTS)


def test_a_logistic_regression_has_the_means_of_nuts():
    random = np.random.default_rng(4)
    x = random.normal(size=(200, 2))
    y = random.random(200) < 1 / (1 + np.exp(-(0.5 + x @ [1.0, -2.0])))
    with pm.Model() as model:
        intercept = pm.Normal("intercept", 0, 2)
        slopes = pm.Normal("slopes", 0, 2, shape=2)
        pm.Bernoulli("y", logit_p=intercept + x @ slopes, observed=y)
        theirs = pm.sample(500, tune=500, chains=2, cores=1, random_seed=3, progressbar=False)
    ours = adaann.fit(model, seed=2).to_arviz()
    for name in ("intercept", "slopes"):
        a, b = (data.posterior[name].mean(("chain", "draw")).values for data in (ours, theirs))
        sd = theirs.posterior[name].std(("chain", "draw")).values
        # About 500 effective draws of theirs and 4,000 of ours: five standard errors of a mean.
        assert np.all(np.abs(a - b) < 5 * sd * np.sqrt(1 / 400 + 1 / 2000))


def test_the_weights_of_two_modes_that_nuts_gets_wrong():
    # A mixture prior with two distant modes of weights 0.2 and 0.8, and no data.
    with pm.Model() as model:
        pm.Mixture("x", [0.2, 0.8], pm.Normal.dist([-10.0, 10.0], 1.0))
    result = adaann.fit(model, seed=1)
    assert result.verdict
    share = float((result.to_arviz().posterior["x"] < 0).mean())
    assert share == pytest.approx(0.2, abs=0.03)
    with model:
        theirs = pm.sample(200, tune=300, chains=1, cores=1, random_seed=1, progressbar=False)
    # A single chain stays where it began.
    assert float((theirs.posterior["x"] < 0).mean()) in (0.0, 1.0)


def test_discrete_variables_are_named():
    with pm.Model() as model:
        pm.Poisson("count", 3)
        pm.Normal("x")
    with pytest.raises(ValueError, match="count"):
        adaann.fit(model)
