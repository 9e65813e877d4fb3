#!/usr/bin/env python3
"""Makes survival.csv: years until a relapse, or until a patient was last seen without one."""

import math
import pathlib
import random

SHAPE, LOG_SCALE, EFFECT, AGING = 1.4, 1.0, 0.6, -0.25
uniform = random.Random(3).random

lines = ["time,event,treated,age"]
for _ in range(150):
    age, treated = 40 + math.floor(41 * uniform()), round(uniform())
    scale = math.exp(LOG_SCALE + EFFECT * treated + AGING * (age - 60) / 10)
    relapse = scale * (-math.log(uniform())) ** (1 / SHAPE)
    last_seen = 1 + 4 * uniform()
    time, event = min(relapse, last_seen), int(relapse <= last_seen)
    lines.append(f"{max(time, 0.001):.3f},{event},{treated},{age}")
pathlib.Path(__file__).with_name("survival.csv").write_text("\n".join(lines) + "\n")
