"""Compares adaann with other samplers on the same JAX posteriors, all with defaults: a table for each problem.

usage: peers.py [--seconds 240] [--seed 1] [--only SAMPLER,...] [--problem PROBLEM]

Run bench/peers/install.sh samplers and bench/peers/install.sh nuts first, or use `bench/python/run --peers`.
Samplers run one after another, each in a separate process (worker.py) that is killed after --seconds.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent

# Samplers and their interpreters: this one has adaann, PyMC and JAX.
SAMPLERS = {
    "adaann_jax": ("adaann, JAX target", sys.executable),
    "adaann_native": ("adaann, its own target", sys.executable),
    "pymc": ("PyMC, NUTS", sys.executable),
    "numpyro": ("numpyro, NUTS", BENCH / ".venv-nuts/bin/python"),
    "nutpie": ("nutpie, NUTS", BENCH / ".venv-nuts/bin/python"),
    "blackjax": ("blackjax, tempered SMC", BENCH / ".venv-samplers/bin/python"),
    "dynesty": ("dynesty", BENCH / ".venv-samplers/bin/python"),
    "nautilus": ("nautilus", BENCH / ".venv-samplers/bin/python"),
}
PROBLEMS = {
    "hiv": "HIV, 3 parameters, two modes of one half each; log Z 85.137",
    "lotka-volterra": "Lotka-Volterra, 8 parameters, one mode; log Z is not known exactly",
}


def run(sampler, problem, seed, seconds):
    """The output of the worker, and the reason of a failure."""
    command = [SAMPLERS[sampler][1], HERE / "worker.py", sampler, problem, str(seed)]
    if not Path(command[0]).exists():
        return [], "not installed: bench/peers/install.sh"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        printed, ended = done.stdout, None
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            ended = last[0][:100]
    except subprocess.TimeoutExpired as late:
        printed, ended = (late.stdout or b"").decode(), f"not done after {seconds} s"
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")], ended


def cells(name, found):
    log_z = f"{found['log_z']:.3f}" if found.get("log_z") is not None else ""
    log_z += f" ± {found['log_z_error']:.3f}" if log_z and found.get("log_z_error") is not None else ""
    spread = f"{found['spread']:.2f}" if found.get("spread") is not None else "none"
    weight = f"{found['weight']:.3f}" if "weight" in found else ""
    return [
        name, f"{found['seconds']:.1f}", f"{found['evaluations']:,}", f"{found['error']:.3f}", spread, weight, log_z,
        found.get("says", ""),
    ]  # fmt: skip


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=240)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default=",".join(SAMPLERS))
    options.add_argument("--problem", choices=list(PROBLEMS))
    given = options.parse_args()
    wanted = given.only.split(",")
    if not set(wanted) <= set(SAMPLERS):
        options.error(f"--only takes {', '.join(SAMPLERS)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, seed {given.seed}")
    header = ["", "seconds", "evaluations", "error of means, SD", "SD off by", "mode weight", "log Z", "verdict"]
    for problem, title in PROBLEMS.items():
        if given.problem not in (None, problem):
            continue
        print(f"\n{title}\n\n| " + " | ".join(header) + " |\n|" + " --- |" * len(header), flush=True)
        for sampler in wanted:
            name = SAMPLERS[sampler][0]
            answers, ended = run(sampler, problem, given.seed, given.seconds)
            for i, found in enumerate(answers):
                print("| " + " | ".join(cells(name + (", again (compiled)" if i else ""), found)) + " |", flush=True)
            if ended:
                print(f"| {name} | {ended} |" + " |" * (len(header) - 2), flush=True)


if __name__ == "__main__":
    main()
