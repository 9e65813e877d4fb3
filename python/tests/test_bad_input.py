"""Bad input gives a one-sentence error and no panic."""

from __future__ import annotations

import numpy as np
import pytest

import adaann


def gaussian(x):
    return -0.5 * (x**2).sum(axis=1)


CASES = [
    (dict(), TypeError, "needs a target"),
    (dict(target=None), TypeError, "needs a target"),
    (dict(target=3.0), TypeError, "float"),
    (dict(target=gaussian), (TypeError, ValueError), "names="),
    (dict(target=gaussian, dim=0), ValueError, "dim"),
    (dict(target=gaussian, dim=2, names=["a"]), ValueError, "names"),
    (dict(target=gaussian, names=["a", "a"]), ValueError, "a"),
    (dict(target=gaussian, names=["sigma"], bounds={"sgima": (0, None)}), ValueError, "sigma"),
    (dict(target=gaussian, names=["a"], bounds={"a": (1, 0)}), ValueError, "a"),
    (dict(target=gaussian, dim=2, seed="x"), ValueError, "seed is x"),
    (dict(target=gaussian, dim=2, sede=3), ValueError, "did you mean seed"),
    (dict(target=gaussian, dim=2, method="mixtrue"), ValueError, "mixture"),
    (dict(target=gaussian, dim=2, max_evaluations=0), ValueError, "max_evaluations is 0"),
    (dict(target=gaussian, dim=2, tau=0.1, target_ess=500), ValueError, "target_ess"),
    (dict(target=gaussian, dim=2, data={"x": [1]}), ValueError, "data= applies only to model files"),
    (dict(target=gaussian, dim=2, schedule=3), TypeError, "schedule is a int"),
    (dict(target=gaussian, dim=2, schedule=lambda t, b, w: 1.0, t0=0), ValueError, "t0 = 0"),
    (dict(target=gaussian, dim=2, prior=3), TypeError, "prior is a int"),
    (dict(target=gaussian, names=["p"], supports={"p": "unit"}, bounds={"p": (None, None)}), ValueError, "'p'"),
    (dict(target="bimodl"), ValueError, "did you mean 'bimodal'"),
    (dict(target="hiv", names=["a"]), ValueError, "names= applies only to functions"),
    (dict(target=lambda x: list(gaussian(x)), dim=2), (TypeError, ValueError), "list"),
    (dict(target=lambda x: gaussian(x)[:-1], dim=2), ValueError, "shape"),
    (dict(target=lambda x: gaussian(x).astype(np.float32), dim=2), (TypeError, ValueError), "float32"),
    (dict(target=lambda x: (gaussian(x), x[:, :1]), dim=2, gradient=True), ValueError, "gradient"),
]


@pytest.mark.parametrize("arguments, kind, words", CASES)
def test_one_sentence(arguments, kind, words):
    with pytest.raises(kind) as caught:
        adaann.fit(**arguments)
    said = str(caught.value)
    assert words in said, said
    assert "panick" not in said and "\n" not in said.strip(), said


def test_a_density_that_is_nowhere():
    with pytest.raises(RuntimeError) as caught:
        adaann.fit(lambda x: np.full(len(x), np.nan), dim=2)
    assert "panick" not in str(caught.value), caught.value


def test_a_model_file_is_shown_with_the_place(tmp_path):
    with pytest.raises(ValueError, match="(?s)cannot be read.*nowhere.toml"):
        adaann.fit("nowhere.toml")
    (tmp_path / "slip.toml").write_text('[parameters]\na = "normall(0, 1)"\n')
    with pytest.raises(ValueError, match="(?s)normall.*did you mean.*normal"):
        adaann.fit(tmp_path / "slip.toml")


def test_points_of_another_dimension():
    result = adaann.fit(gaussian, dim=2)
    with pytest.raises(ValueError, match="3 coordinates, but the target has 2"):
        result.log_density(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="n is 0"):
        result.sample(0)


def test_an_infinite_density_is_named():
    with pytest.raises(RuntimeError):
        adaann.fit(lambda x: np.full(len(x), np.inf), dim=1)
