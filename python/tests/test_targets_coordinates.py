"""Names, bounds and supports."""

import pytest

from adaann.targets.coordinates import coordinates


def test_sizes_give_flat_names() -> None:
    there = coordinates(names={"mu": None, "beta": 2, "one": 1})
    assert there.names == ["mu", "beta[1]", "beta[2]", "one"]
    assert there.supports == [("real",)] * 4


def test_names_without_any() -> None:
    assert coordinates(1).names == ["x"]
    assert coordinates(3).names == ["x[1]", "x[2]", "x[3]"]
    assert coordinates(2, ["a", "b"]).names == ["a", "b"]


def test_bounds_by_name() -> None:
    there = coordinates(
        names={"sigma": 2, "p": None, "m": None, "free": None, "q": None},
        bounds={"sigma": (0, None), "p": (0, 1), "m": (None, 3), "q": (float("-inf"), float("inf"))},
    )
    above = ("above", 0.0)
    assert there.supports == [above, above, ("between", 0.0, 1.0), ("below", 3.0), ("real",), ("real",)]
    one = coordinates(names={"sigma": 2}, bounds={"sigma[2]": (1, None)})
    assert one.supports == [("real",), ("above", 1.0)]


def test_supports_by_name() -> None:
    there = coordinates(
        names={"w": 3, "c": 3, "s": 2, "u": None},
        supports={"w": "simplex", "c": "ordered", "s": "positive", "u": "unit"},
    )
    assert there.names == ["w[1]", "w[2]", "c[1]", "c[2]", "c[3]", "s[1]", "s[2]", "u"]
    assert there.supports == [
        ("share", 0, 3), ("share", 1, 3),
        ("real",), ("after",), ("after",),
        ("above", 0.0), ("above", 0.0),
        ("between", 0.0, 1.0),
    ]  # fmt: skip
    flat = coordinates(names=["w[1]", "w[2]", "m"], supports={"w": "simplex"})
    assert flat.supports == [("share", 0, 3), ("share", 1, 3), ("real",)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "adaann.fit needs dim= or names= to know how many coordinates the target has."),
        ({"dim": 0}, "dim is 0; expected a positive integer."),
        ({"dim": 3, "names": ["a"]}, "dim is 3, but the number of coordinates in names is 1."),
        ({"names": ["a", "a"]}, "names contains 'a' twice."),
        ({"names": []}, "names is empty; a target needs at least one coordinate."),
        ({"names": {"a": 0}}, "names['a'] is 0; expected a positive integer, or None for a scalar."),
        (
            {"names": ["sigma", "mu"], "bounds": {"sgma": (0, None)}},
            "bounds names 'sgma', which is not a coordinate; did you mean 'sigma'?",
        ),
        (
            {"names": ["a", "b"], "supports": {"weights": "positive"}},
            "supports names 'weights', which is not a coordinate; expected one of 'a', 'b'.",
        ),
        ({"names": ["a"], "supports": {"a": "postive"}}, "supports['a'] is 'postive'; did you mean 'positive'?"),
        (
            {"names": ["a"], "bounds": {"a": (1, 1)}},
            "bounds['a'] is (1, 1); the lower bound must be less than the upper bound.",
        ),
        (
            {"names": ["a"], "bounds": {"a": 3}},
            "bounds['a'] is 3; expected (low, high), with None for a missing bound.",
        ),
        (
            {"names": ["a"], "bounds": {"a": (float("nan"), 1)}},
            "bounds['a'] is (nan, 1); a bound must be a finite number or None.",
        ),
        (
            {"names": ["a"], "bounds": {"a": (0, 1)}, "supports": {"a": "unit"}},
            "'a' appears in both bounds and supports; use only one of them.",
        ),
        (
            {"names": {"w": None}, "supports": {"w": "simplex"}},
            "'w' is a simplex of size None; expected a size of at least 2.",
        ),
    ],
)
def test_refusals(given: dict, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:
        coordinates(**given)
    assert str(refused.value) == sentence


def test_one_string_is_no_list() -> None:
    with pytest.raises(TypeError, match="expected a list of strings"):
        coordinates(names="mu")
