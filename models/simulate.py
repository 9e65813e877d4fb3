#!/usr/bin/env python3
"""The log likelihood of daily cases of an outbreak, with its gradient, for outside.toml.

Those infected on a day infect others on the five days after it. The number of cases of a day is a
Poisson number.
"""

import json
import math
import pathlib
import sys
from operator import mul

INFECTS = [0.05, 0.15, 0.25, 0.35, 0.2]  # of all that one infects, five days ago to yesterday
MEASURES = 12  # the first day after the measures


def read_cases():
    lines = pathlib.Path(__file__).parent.joinpath("data/outbreak.csv").read_text().split()
    return [int(line.split(",")[1]) for line in lines[1:]]


def expected(r_before, r_after, imported, days):
    """The expected cases of each day, and their derivatives by r_before and r_after.

    All infections of the days before day 0 are in `imported`, the cases of day 0.
    """
    none = [0.0] * len(INFECTS)
    cases, by_before, by_after = none[1:] + [imported], none[:], none[:]
    for day in range(1, days):
        # Of an exposure by the last five days each person makes r of them.
        exposure, before, after = (
            sum(map(mul, INFECTS, last[-len(INFECTS) :])) for last in (cases, by_before, by_after)
        )
        if day < MEASURES:
            cases.append(r_before * exposure)
            by_before.append(r_before * before + exposure)
            by_after.append(0.0)
        else:
            cases.append(r_after * exposure)
            by_before.append(r_after * before)
            by_after.append(r_after * after + exposure)
    return cases[-days:], by_before[-days:], by_after[-days:]


def log_likelihood(point, seen):
    """The value and its derivatives; cases are proportional to `imported`."""
    means, by_before, by_after = expected(*point, len(seen))
    value = sum(n * math.log(mean) - mean - math.lgamma(n + 1) for n, mean in zip(seen, means))
    slopes = [n / mean - 1 for n, mean in zip(seen, means)]
    by_imported = sum(map(mul, slopes, means)) / point[2]
    return value, sum(map(mul, slopes, by_before)), sum(map(mul, slopes, by_after)), by_imported


def main():
    seen = read_cases()
    names = json.loads(sys.stdin.readline())["parameters"]
    assert names == ["r_before", "r_after", "imported"], names
    print(json.dumps({"gradient": True}), flush=True)
    for line in sys.stdin:
        for _ in range(int(line.split()[1])):
            point = [float(word) for word in sys.stdin.readline().split()]
            try:
                print(*log_likelihood(point, seen))
            except (ArithmeticError, ValueError):
                print("-inf")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
