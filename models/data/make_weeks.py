#!/usr/bin/env python3
"""Makes weeks.csv and contacts.csv: an epidemic over eighteen weeks whose contacts change from week to week."""

import pathlib
import random
import statistics

PEOPLE, BETA, GAMMA, FIRST, EFFECT, DISPERSION = 50_000, 2.1, 1.0, 20.0, 0.8, 60.0  # rates of a week
CONTACTS = [1, 1, 1.05, 1, 0.95, 0.9, 0.6, 0.5, 0.5, 0.55, 0.7, 0.8, 0.9, 1, 1, 1.05, 1, 0.95]
STEPS = 1_000  # of a week
random_ = random.Random(3)


def rates(s, i, contact):
    new = BETA * contact**EFFECT * s * i / PEOPLE
    return -new, new - GAMMA * i, new


def count(mean):
    """A Poisson number whose mean is a gamma number, by the normal distribution where that is large."""
    mean = random_.gammavariate(DISPERSION, mean / DISPERSION)
    return max(0, round(mean + mean**0.5 * statistics.NormalDist().inv_cdf(random_.random())))


weeks, (s, i) = ["week,cases"], (PEOPLE - FIRST, FIRST)
for week, contact in enumerate(CONTACTS):
    cases, h = 0.0, 1 / STEPS
    for _ in range(STEPS):  # the midpoint rule
        ds, di, _ = rates(s, i, contact)
        ds, di, new = rates(s + h / 2 * ds, i + h / 2 * di, contact)
        s, i, cases = s + h * ds, i + h * di, cases + h * new
    weeks.append(f"{week + 1},{count(cases)}")
folder = pathlib.Path(__file__).parent
(folder / "weeks.csv").write_text("\n".join(weeks) + "\n")
contacts = [f"{week},{contact}" for week, contact in enumerate(CONTACTS)]
(folder / "contacts.csv").write_text("\n".join(["week,contacts", *contacts]) + "\n")
