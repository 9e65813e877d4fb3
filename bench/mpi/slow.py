"""The likelihood of slow.toml: two modes of unequal weight, with a delay."""

import json
import math
import os
import sys
import time

sleep = float(os.environ.get("ADAANN_SLEEP", "0.01"))
sys.stdin.readline()
print(json.dumps({"gradient": True}), flush=True)
for line in sys.stdin:
    for _ in range(int(line.split()[1])):
        point = [float(word) for word in sys.stdin.readline().split()]
        if sleep:
            time.sleep(sleep)
        humps = [(0.0, (2, 0, 0)), (math.log(0.4), (-2, 1, 0.5))]
        logs = [log - 2 * sum((x - m) ** 2 for x, m in zip(point, middle)) for log, middle in humps]
        top = max(logs)
        shares = [math.exp(log - top) for log in logs]
        total = sum(shares)
        slopes = [
            sum(share * -4 * (point[d] - middle[d]) for share, (_, middle) in zip(shares, humps)) / total
            for d in range(3)
        ]
        print(top + math.log(total), *slopes)
    sys.stdout.flush()
