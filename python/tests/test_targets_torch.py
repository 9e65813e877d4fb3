"""PyTorch functions of one point."""

import numpy as np
import pytest
from known_density import likelihood_slope, log_likelihood, log_prior, points, prior_slope

from adaann.targets import adapt

torch = pytest.importorskip("torch")


def likelihood(x):
    return -1.5 * (x[1] - x[0] ** 2) ** 2 + 0.3 * x[0] * x[1]


def prior(x):
    return -((x[0] - 1.0) ** 2) / 2 - (x[1] + 2.0) ** 2 / 8


def test_values_and_gradients() -> None:
    target = adapt(likelihood, dim=2, prior=prior, backend="torch")
    assert target.has_prior and target.gives_gradient
    for n in (1, 5, 5000):
        x = points(n)
        before = x.copy()
        expected = log_prior(x.T), log_likelihood(x.T), prior_slope(x.T).T, likelihood_slope(x.T).T
        for got, truth in zip(target.evaluate(x, True), expected):
            assert got.dtype == np.float64 and got.shape == truth.shape
            np.testing.assert_allclose(got, truth, rtol=1e-13, atol=1e-12)
        values = target.evaluate(x, False)
        assert values[2:] == (None, None)
        np.testing.assert_allclose(values[1], expected[1], rtol=1e-13, atol=1e-12)
        np.testing.assert_array_equal(x, before)


def test_modules_are_recognised() -> None:
    class Density(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(1.0, dtype=torch.float64))

        def forward(self, x):
            return self.scale * likelihood(x)

    x = points(6)
    _, value, _, slope = adapt(Density(), dim=2).evaluate(x, True)
    np.testing.assert_allclose(value, log_likelihood(x.T), rtol=1e-13)
    np.testing.assert_allclose(slope, likelihood_slope(x.T).T, rtol=1e-13, atol=1e-13)


def test_read_only_points() -> None:
    x = points(6)
    x.flags.writeable = False
    np.testing.assert_allclose(
        adapt(likelihood, dim=2, backend="torch").evaluate(x, False)[1], log_likelihood(x.T), rtol=1e-13
    )


@pytest.mark.parametrize("gradient", [True, False])
@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (
            lambda x: x[0].float(),
            "The target returned a tensor of type torch.float32; expected torch.float64: "
            "create constants with dtype=torch.float64, and convert modules by .double().",
        ),
        (
            lambda x: 0.5,
            "The target returned a float; a PyTorch function of one point must return a tensor of shape ().",
        ),
        (
            lambda x: 2 * x,
            "The target returned a torch Tensor of shape (2,) and type torch.float64; "
            "a PyTorch function of one point must return a tensor of shape ().",
        ),
    ],
)
def test_wrong_results(function, sentence: str, gradient: bool) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        adapt(function, dim=2, backend="torch").evaluate(points(3), gradient)
    assert str(refused.value) == sentence
