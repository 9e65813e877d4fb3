#!/usr/bin/env python3
"""The log likelihood of daily cases of an outbreak, with its gradient, for outside.toml.

Those infected on a day infect others on the six days after it. The number of cases is a Poisson number.
"""

import json
import math
import pathlib
import sys

INFECTS = [0.1, 0.3, 0.25, 0.2, 0.1, 0.05]  # the share of all that one infects, day by day
MEASURES = 15  # the first day after the measures


def read_cases():
    lines = pathlib.Path(__file__).parent.joinpath("data/outbreak.csv").read_text().split()
    return [int(line.split(",")[1]) for line in lines[1:]]


def expected(r_before, r_after, imported, days):
    """For each day the expected cases and their derivatives by the three parameters."""
    rows = [(imported, 0.0, 0.0, 1.0)]
    for day in range(1, days):
        sources = rows[-1 : -len(INFECTS) - 1 : -1]
        pressure, *slopes = (
            sum(share * row[i] for share, row in zip(INFECTS, sources)) for i in range(4)
        )
        before = day < MEASURES
        r = r_before if before else r_after
        slopes = [r * slope for slope in slopes]
        slopes[0 if before else 1] += pressure
        rows.append((r * pressure, *slopes))
    return rows


def log_likelihood(point, cases):
    value, gradient = 0.0, [0.0] * 3
    for seen, (mean, *slopes) in zip(cases, expected(*point, len(cases))):
        value += seen * math.log(mean) - mean - math.lgamma(seen + 1)
        for i, slope in enumerate(slopes):
            gradient[i] += (seen / mean - 1) * slope
    return value, *gradient


def main():
    cases = read_cases()
    names = json.loads(sys.stdin.readline())["parameters"]
    assert names == ["r_before", "r_after", "imported"], names
    print(json.dumps({"gradient": True}), flush=True)
    for line in sys.stdin:
        for _ in range(int(line.split()[1])):
            point = [float(word) for word in sys.stdin.readline().split()]
            try:
                print(*log_likelihood(point, cases))
            except (ArithmeticError, ValueError):
                print("-inf")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
