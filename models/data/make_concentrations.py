#!/usr/bin/env python3
"""Makes concentrations.csv: a drug in the blood after a dose, with log-normal noise."""

import math
import pathlib
import random
import statistics

DOSE, ABSORPTION, VOLUME, V_MAX, K_M, SIGMA = 500.0, 1.2, 30.0, 1.5, 4.0, 0.1
BACKGROUND = 0.01
TIMES = [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24]
STEP = 1 / 1024  # every time is a multiple of it
uniform = random.Random(2).random


def rates(gut, blood):
    absorbed = ABSORPTION * gut
    return -absorbed, absorbed / VOLUME - V_MAX * blood / (K_M + blood)


lines = ["hours,concentration"]
gut, blood, step = DOSE, 0.0, 0
for time in TIMES:
    while step * STEP < time:  # the midpoint rule
        gut_rate, blood_rate = rates(gut, blood)
        middle = rates(gut + STEP / 2 * gut_rate, blood + STEP / 2 * blood_rate)
        gut, blood, step = gut + STEP * middle[0], blood + STEP * middle[1], step + 1
    noise = SIGMA * statistics.NormalDist().inv_cdf(uniform())
    lines.append(f"{time},{(blood + BACKGROUND) * math.exp(noise):.4g}")
pathlib.Path(__file__).with_name("concentrations.csv").write_text("\n".join(lines) + "\n")
