"""Verdicts: their four levels, and the power of the search."""

from __future__ import annotations

import pytest

import adaann
from adaann._result import Verdict
from adaann._words import as_arguments


def test_only_reliable_is_true():
    for trust in ("local", "care", "distrust"):
        assert not Verdict(trust, [], None, None)
    assert Verdict("reliable", [], None, 0.97)


def test_power_is_shown_rounded_down():
    assert str(Verdict("local", [], None, 0.899)) == "LOCAL (power 89 %)"
    assert str(Verdict("care", [], None, None)) == "CARE"


def test_remedies_are_arguments():
    words = as_arguments("search longer (--search 10: ten times the evaluations), or --method smc, or --check 0.8")
    assert words == 'search longer (search=10: ten times the evaluations), or method="smc", or check=0.8'


def test_search_is_a_setting():
    assert "search" in adaann.settings()
    result = adaann.fit(lambda x: -0.5 * (x**2).sum(axis=1), dim=2, search=2, seed=3)
    assert result.verdict.trust in ("reliable", "local")
    assert result.verdict.power is None or 0 <= result.verdict.power <= 1
    with pytest.raises(ValueError, match="search"):
        adaann.fit(lambda x: -0.5 * (x**2).sum(axis=1), dim=2, search=0)
