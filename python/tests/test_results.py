"""Results: tables, ArviZ, figures and reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import adaann

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def result():
    def log_density(x):
        return -0.5 * ((x - np.arange(3)) ** 2 / np.array([1, 4, 9])).sum(axis=1)

    return adaann.fit(log_density, names={"mu": None, "beta": 2}, name="line", seed=8)


def test_arrays_by_name(result):
    assert list(result.draws) == ["mu", "beta"] and result.draws.columns == ["mu", "beta[1]", "beta[2]"]
    count = len(result.draws.weights)
    assert result.draws["beta"].shape == (count, 2)
    assert np.array_equal(result.draws["beta[2]"], result.draws["beta"][:, 1])
    assert np.allclose(result.draws.mean("beta"), [1, 2], atol=0.3)
    assert np.allclose(result.draws.sd("beta"), [2, 3], atol=0.3)
    assert result.draws.to_dataframe().shape == (count, 4)
    table = result.summary()
    assert list(table.index) == ["mu", "beta[1]", "beta[2]"]
    assert table.loc["beta[2]", "sd"] == pytest.approx(3, abs=0.3)


def test_new_draws(result):
    draws = result.sample(2000, seed=5)
    assert draws["beta"].shape == (2000, 2) and np.allclose(draws.weights, 1 / 2000)
    # Five standard errors of 2,000 draws, some of which may be duplicates.
    assert abs(draws["mu"].mean()) < 5 * np.sqrt(2 / 2000)


def test_quantiles_are_where_their_names_say(result):
    for row in result.table():
        draws, weights = result.draws[row["name"]], result.draws.weights
        levels = [key for key in row if key.endswith("%")]
        assert len(levels) == 5
        for level in levels:
            share = weights[draws <= row[level]].sum()
            # The quantiles come from these draws, so the share differs by at most one draw.
            assert share == pytest.approx(float(level[:-1]) / 100, abs=2 * weights.max()), level


def test_arviz(result):
    arviz = pytest.importorskip("arviz")
    data = result.to_arviz()
    assert data.posterior["beta"].shape[-1] == 2
    summary = arviz.summary(data, kind="stats")
    assert abs(summary.loc["mu", "mean"]) < 0.2
    weights = np.asarray(data["unweighted_stats"]["weight"]).ravel()
    assert np.allclose(weights, result.draws.weights)
    import matplotlib

    matplotlib.use("Agg")
    assert arviz.plot_pair(data, var_names=["mu", "beta"]) is not None


def test_arviz_of_a_model_file():
    arviz = pytest.importorskip("arviz")
    data = adaann.fit(ROOT / "models/eight_schools.toml").to_arviz()
    groups = set(data.groups())
    assert {"posterior", "sample_stats", "observed_data", "log_likelihood"} <= groups, groups
    assert np.isfinite(arviz.loo(data).elpd_loo)


def test_a_figure_and_a_page(result, tmp_path):
    figure = result.plot_corner()
    figure.savefig(tmp_path / "corner.png")
    assert (tmp_path / "corner.png").stat().st_size > 5000
    with pytest.raises(ValueError, match="no column 'gamma'"):
        result.plot_corner(names=["gamma"])
    page = result.report(tmp_path / "page.html")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert (tmp_path / "page.html").read_text() == page
    assert "srcdoc" in result._repr_html_()


def test_verdicts_have_reasons():
    # Too few evaluations for a reliable result.
    with pytest.warns(UserWarning, match="but the exact value is"):
        result = adaann.fit("funnel", max_evaluations=3000)
    assert not result.verdict
    codes = {reason.code for reason in result.verdict.reasons}
    assert {"heavy-tail", "budget-spent"} <= codes
    said = str(result.verdict)
    assert 'method="smc"' in said and "--" not in said, said


def test_calibration():
    found = adaann.calibrate(ROOT / "models/eight_schools.toml", n=4, draws=20, target_ess=200)
    assert found.info["trials"] == 4 or found.info.get("done") == 4, sorted(found.info)
    with pytest.raises(ValueError, match="did you mean target_ess"):
        adaann.calibrate(ROOT / "models/eight_schools.toml", n=1, taget_ess=3)
