"""Stan models through BridgeStan.

Compiling a model for BridgeStan needs C++ sources that no package registry provides. These tests use the shared
library `stan_stand_in.c` instead, which has the functions that BridgeStan's Python package calls in a compiled model.
`fixtures/stan.json` contains the values that Stan itself computes for that model.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from known_density import points

from adaann.targets import adapt

bridgestan = pytest.importorskip("bridgestan")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = tmp_path_factory.mktemp("stan") / "stand_in.so"
    source = Path(__file__).with_name("stan_stand_in.c")
    subprocess.run([compiler, "-O1", "-Wall", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return bridgestan.StanModel(str(library), warn=False)


@pytest.fixture(scope="module")
def stan():
    here = Path(__file__).parent
    numbers = json.loads((here / "fixtures/stan.json").read_text())
    assert numbers["program"] == (here / "stan_stand_in.stan").read_text(), "run fixtures/make_stan.py again"
    return numbers


def truth(x):
    """Log density with constants and Jacobian, and its gradient, in closed form."""
    rate = np.array([[1.0], [3.0]])
    r = (x[0] - 1) / 2
    value = -r * r / 2 - np.log(2) - np.log(2 * np.pi) / 2
    value += (np.log(rate) - rate * np.exp(x[1:]) + x[1:]).sum(0)
    return value, np.concatenate([[-r / 2], 1 - rate * np.exp(x[1:])])


def test_values_and_gradients(model) -> None:
    target = adapt(model)
    assert target.names == ["mu", "sigma[1]", "sigma[2]"] and target.supports == [("real",)] * 3
    assert not target.has_prior and target.gives_gradient
    x = points(40, dim=3)
    _, value, _, slope = target.evaluate(x, True)
    np.testing.assert_allclose(value, truth(x)[0], rtol=1e-13)
    np.testing.assert_allclose(slope, truth(x)[1], rtol=1e-13, atol=1e-13)
    alone = target.evaluate(x, False)
    np.testing.assert_allclose(alone[1], truth(x)[0], rtol=1e-13)
    assert alone[3] is None


def test_as_stan_computes_it(model, stan) -> None:
    target = adapt(model)
    assert model.param_names(include_tp=True, include_gq=True) == stan["names"]
    x = np.array([point["unconstrained"] for point in stan["points"]]).T
    _, value, _, slope = target.evaluate(x, True)
    rejected = np.array([point["log_density"] is None for point in stan["points"]])
    np.testing.assert_array_equal(np.isneginf(value), rejected)

    # Both include constants and Jacobian, so the values must agree without an offset.
    inside = [point for point in stan["points"] if point["log_density"] is not None]
    close = dict(rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(value[~rejected], [point["log_density"] for point in inside], **close)
    np.testing.assert_allclose(slope.T[~rejected], [point["gradient"] for point in inside], **close)
    values = target.constrain(x[:, ~rejected])
    constrained = np.column_stack([values[name] for name in ("mu", "sigma", "twice")])
    np.testing.assert_allclose(constrained, [point["constrained"] for point in inside], rtol=1e-12)


def test_rejected_points_are_outside_of_the_support(model) -> None:
    target = adapt(model)
    x = points(4, dim=3)
    x[0, 2] = 101.0
    for gradient in (True, False):
        value = target.evaluate(x, gradient)[1]
        np.testing.assert_array_equal(np.isneginf(value), [False, False, True, False])
    assert target.rejections == 2


def test_a_model_that_rejects_everything_is_an_error(model) -> None:
    with pytest.raises(RuntimeError, match="mu is too large") as raised:
        adapt(model).evaluate(np.full((3, 5), 101.0), True)
    assert raised.value.__notes__ == ["adaann: raised at all 5 points of the first batch."]


def test_constrained_values(model) -> None:
    x = points(6, dim=3)
    values = adapt(model).constrain(x)
    assert list(values) == ["mu", "sigma", "twice", "draw"]
    np.testing.assert_array_equal(values["mu"], x[0])
    np.testing.assert_allclose(values["sigma"], np.exp(x[1:]).T)
    np.testing.assert_allclose(values["twice"], 2 * np.exp(x[1:]).T)
    assert np.all((values["draw"] >= x[0]) & (values["draw"] < x[0] + 1))


def test_other_arguments_are_refused(model) -> None:
    with pytest.raises(ValueError) as refused:
        adapt(model, dim=3, bounds={"mu": (0, None)})
    assert str(refused.value) == "A Stan model defines these itself; remove dim=, bounds=."
