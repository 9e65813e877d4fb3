#!/usr/bin/env python3
"""Makes growth.csv: heights of 18 plants on six days; tall ones grow less."""

import math
import pathlib
import random

START, RATE, SPREAD, CORRELATION, NOISE = 10.0, 2.0, (1.5, 0.5), -0.6, 0.4
draw = random.Random(3)
lines = ["plant,day,height"]
for plant in range(1, 19):
    first, second = draw.gauss(0, 1), draw.gauss(0, 1)
    start = START + SPREAD[0] * first
    turned = CORRELATION * first + math.sqrt(1 - CORRELATION**2) * second
    rate = RATE + SPREAD[1] * turned
    for day in range(6):
        height = start + rate * day + NOISE * draw.gauss(0, 1)
        lines.append(f"{plant},{day},{height:.2f}")
pathlib.Path(__file__).with_name("growth.csv").write_text("\n".join(lines) + "\n")
