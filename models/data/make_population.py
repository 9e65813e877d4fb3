#!/usr/bin/env python3
"""Makes population.csv: twelve people who swallow a drug once or twice, in NONMEM's convention."""

import math
import pathlib
import random
import statistics

ABSORPTION, CLEARANCE, VOLUME = 1.5, 2.8, 32.0  # 1/h, l/h and l, of somebody of 70 kg
SPREADS = 0.4, 0.25, 0.15  # of the logarithms, between people
SIGMA = 0.1
TIMES = [0.25, 0.5, 1, 2, 3.5, 5, 7, 9, 12, 24]
uniform = random.Random(5).random


def normal():
    return statistics.NormalDist().inv_cdf(uniform())


lines = ["id,hours,amt,evid,wt,dv"]
for person in range(1, 13):
    weight = round(55 + 35 * uniform(), 1)
    dose = round(4.5 * weight)
    doses = [0, 12] if person % 4 == 0 else [0]
    k_a, clearance, volume = (
        middle * math.exp(spread * normal())
        for middle, spread in zip((ABSORPTION, CLEARANCE, VOLUME), SPREADS)
    )
    clearance *= (weight / 70) ** 0.75
    volume *= weight / 70
    k_e = clearance / volume
    rows = [(time, f"{time},{dose},1,{weight},.") for time in doses]
    for time in TIMES:
        level = sum(
            dose / volume * k_a / (k_a - k_e) * (math.exp(-k_e * s) - math.exp(-k_a * s))
            for s in (time - given for given in doses)
            if s > 0
        )
        rows.append((time, f"{time},0,0,{weight},{level * math.exp(SIGMA * normal()):.4g}"))
    # A sample at the time of a dose is taken before it.
    rows.sort(key=lambda row: (row[0], row[1].endswith(".")))
    lines += [f"{person},{row}" for _, row in rows]
pathlib.Path(__file__).with_name("population.csv").write_text("\n".join(lines) + "\n")
