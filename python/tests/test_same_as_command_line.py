"""The same seed gives the same bits as the command line, and both read each other's run folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adaann

ROOT = Path(__file__).resolve().parents[2]
# ADAANN_ALL_MODELS=1 tests all models.
QUICK = ["eight_schools", "lotka_volterra", "election", "garch", "survival"]
SLOW = sorted(path.stem for path in (ROOT / "models").glob("*.toml") if path.stem not in QUICK)
MODELS = QUICK + (SLOW if os.environ.get("ADAANN_ALL_MODELS") else [])


def without_times(folder: Path) -> dict:
    summary = json.loads((folder / "summary.json").read_text())
    return {key: value for key, value in summary.items() if key != "seconds"}


@pytest.mark.parametrize("model", MODELS)
def test_models(model, command_line, tmp_path):
    theirs = command_line("fit", f"models/{model}.toml", "--seed", "7")
    result = adaann.fit(ROOT / "models" / f"{model}.toml", seed=7)
    result.save(tmp_path / "ours")
    for file in ("draws.csv", "flow.safetensors", "schedule.csv", "trace.csv"):
        assert (tmp_path / "ours" / file).read_bytes() == (theirs / file).read_bytes(), file
    assert without_times(tmp_path / "ours") == without_times(theirs)


def test_a_density_by_name(command_line, tmp_path):
    theirs = command_line("run", "hiv", "--seed", "2")
    adaann.fit("hiv", seed=2, out=tmp_path / "ours")
    assert (tmp_path / "ours/draws.csv").read_bytes() == (theirs / "draws.csv").read_bytes()


def test_the_command_lines_folder_is_read(command_line):
    folder = command_line("run", "mixture2d", "--seed", "3", "--method", "mixture")
    result = adaann.load(folder)
    draws = np.loadtxt(folder / "draws.csv", delimiter=",", skiprows=1)
    assert np.array_equal(result.draws.array, draws[:, :2])
    assert result.verdict.trust == "reliable" and len(result.modes) == 2
    assert np.allclose(result.log_density(draws[:20, :2]), draws[:20, 3], atol=1e-9)


def test_the_folder_of_a_function_is_read_by_the_command_line(adaann_program, tmp_path):
    def log_density(x):
        return -0.5 * ((x - 1) ** 2).sum(axis=1)

    result = adaann.fit(log_density, names=["a", "b"], bounds={"b": (0, None)}, name="half")
    result.save(tmp_path / "run")
    for arguments in (["verify"], ["report"], ["export"], ["sample", "-n", "5"]):
        done = subprocess.run(
            [adaann_program, arguments[0], tmp_path / "run", *arguments[1:]], capture_output=True, text=True
        )
        assert done.returncode == 0, (arguments, done.stderr)
    again = adaann.load(tmp_path / "run")
    assert np.array_equal(again.draws.array, result.draws.array)
    assert again.log_evidence == result.log_evidence
    with pytest.raises(RuntimeError, match="function in Python"):
        again.target_log_density([[1.0, 1.0]])
    with pytest.raises(ValueError, match="exists"):
        result.save(tmp_path / "run")
    result.save(tmp_path / "run", force=True)
    again.save(tmp_path / "copy")
    assert adaann.load(tmp_path / "copy").log_evidence == result.log_evidence


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "path"])
def test_data_from_anywhere(kind, tmp_path):
    model = ROOT / "models/logistic_regression.toml"
    file = ROOT / "models/data" / "logistic_regression.csv"
    if not file.exists():
        text = model.read_text()
        file = ROOT / "models" / text.split('file = "')[1].split('"')[0]
    if kind == "path":
        data = file
    elif kind == "dict":
        table = np.genfromtxt(file, delimiter=",", names=True)
        data = {name: table[name] for name in table.dtype.names}
    else:
        data = pytest.importorskip(kind).read_csv(file)
    ours, theirs = adaann.fit(model, data=data), adaann.fit(model)
    assert np.array_equal(ours.draws.array, theirs.draws.array)


def test_a_run_goes_on_where_it_was_killed(tmp_path):
    calls = []

    def log_density(x):
        calls.append(len(x))
        if len(calls) == 12:
            raise RuntimeError("pulled the plug")
        return -0.5 * (x**2).sum(axis=1), -x

    whole = adaann.fit(lambda x: (-0.5 * (x**2).sum(axis=1), -x), dim=2, gradient=True, name="g")
    with pytest.raises(RuntimeError, match="pulled the plug"):
        adaann.fit(log_density, dim=2, gradient=True, name="g", out=tmp_path / "r", checkpoint="0s")
    before = len(calls)
    result = adaann.fit(log_density, dim=2, gradient=True, name="g", out=tmp_path / "r", checkpoint="0s")
    assert np.array_equal(result.draws.array, whole.draws.array)
    assert sum(calls[before:]) < whole.evaluations


def test_a_failure_in_the_check_is_no_answer(tmp_path):
    """The check runs last: an exception there must not leave a folder that looks finished."""
    calls = 0

    def log_density(x):
        nonlocal calls
        calls += 1
        if calls == 30:
            raise RuntimeError("pulled the plug")
        return -0.5 * (x**2).sum(axis=1), -x

    arguments = dict(dim=2, gradient=True, name="g", out=tmp_path / "r", checkpoint="0s")
    with pytest.raises(RuntimeError, match="pulled the plug"):
        adaann.fit(log_density, **arguments)
    with pytest.raises(ValueError):
        adaann.load(tmp_path / "r")
    result = adaann.fit(log_density, **arguments)
    whole = adaann.fit(lambda x: (-0.5 * (x**2).sum(axis=1), -x), dim=2, gradient=True, name="g")
    assert np.array_equal(result.draws.array, whole.draws.array)
    assert result.info["check_evaluations"] == whole.info["check_evaluations"]
    assert result.verdict == whole.verdict


def test_other_data_is_another_run(tmp_path):
    def of(data):
        def log_density(x):
            if len(seen) > 20:
                raise RuntimeError("enough")
            seen.append(len(x))
            return -0.5 * ((x - data) ** 2).sum(axis=1), data - x

        return log_density

    seen = []
    arguments = dict(dim=2, gradient=True, out=tmp_path / "r", checkpoint="0s")
    with pytest.raises(RuntimeError, match="enough"):
        adaann.fit(of(np.array([1.0, 2.0])), **arguments)
    with pytest.raises(ValueError, match="identity"):
        adaann.fit(of(np.array([1.0, 3.0])), **arguments)


def test_the_program_comes_along():
    done = subprocess.run([sys.executable, "-m", "adaann", "list"], capture_output=True, text=True)
    assert done.returncode == 0 and "two-moons" in done.stdout
    done = subprocess.run([sys.executable, "-m", "adaann", "run", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and "there is no target" in done.stderr
