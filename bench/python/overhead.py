"""The overhead of the Python package: four tables, from one run on one machine.

usage: overhead.py [numpy] [jax] [loops] [models]      runs all four by default; started by bench/python/run

numpy   microseconds of a call with 1,000 points, in addition to the NumPy function itself; at most 20
jax     a fit of the HIV posterior in JAX, compared with the time of JAX alone for the same batches at their exact
        lengths and with the native fit; at most the time of the native fit without its target plus 1.15 times
        the time of JAX alone
loops   the time saved by running the loops of a JAX function in one kernel, as the package does with small ones
models  the ratio of the times of fits of model files from Python and from the command line; within 5 per cent

Compared codes alternate. For short runs the minimum of several is used, because other work on the machine would
dominate. ADAANN names the command-line program.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

import numpy as np

import adaann

ROOT = Path(__file__).resolve().parents[2]
MOST_MICROSECONDS, MOST_OF_JAX, MOST_APART = 20.0, 1.15, 0.05


def table(title, header, rows):
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |")
    sys.stdout.flush()


def verdict(value, most):
    return "holds" if value <= most else "DOES NOT HOLD"


def of_numpy(points=1_000, runs=100):
    """Algorithm 1 with an affine flow, in which each update is one call and little else."""
    settings = dict(
        method="adaann", flow="affine", t0=1, warmup=1, refine=100, samples=points, refine_samples=points,
        variance_samples=points, draws=points, check_particles=0, threads=1,
    )  # fmt: skip
    own, lengths, rows = [0.0], Counter(), []

    def gaussian(x):
        start = perf_counter()
        values, slopes = -0.5 * np.einsum("ij,ij->i", x, x), -x
        lengths[len(x)] += 1
        own[0] += perf_counter() - start
        return values, slopes

    for dim in (2, 10):
        found = []
        for _ in range(runs):
            own[0] = 0.0
            lengths.clear()
            result = adaann.fit(gaussian, dim=dim, gradient=True, **settings)
            calls, _, seconds = result._answer.cost()
            # A few calls outside the training have other lengths, and are counted with the rest.
            assert lengths[points] > 0.85 * calls, lengths
            found.append((1e6 * (seconds - own[0]) / calls, 1e6 * own[0] / calls))
        (least, beside), (middle, _) = min(found), sorted(found)[runs // 2]
        rows.append([dim, calls, f"{beside:.1f}", f"{least:.1f}", f"{middle:.1f}", verdict(least, MOST_MICROSECONDS)])
    table(
        f"NumPy Gaussian, gradient=True, {points:,} points a call, {runs} fits",
        ["dimensions", "calls", "µs a call in NumPy", "µs beside, least", "median", f"at most {MOST_MICROSECONDS:.0f} µs"],
        rows,
    )


class Recorded:
    """An adapter that records its batches and their times."""

    def __init__(self, adapter):
        self.adapter, self.batches, self.seconds = adapter, [], []

    def __getattr__(self, name):
        return getattr(self.adapter, name)

    def evaluate(self, points, gradient):
        start = perf_counter()
        found = self.adapter.evaluate(points, gradient)
        self.seconds.append(perf_counter() - start)
        self.batches.append((points, gradient))
        return found


def agreement(problem, native):
    """The largest difference of log densities, relative for large ones, in the posterior and where solutions explode."""
    import jax

    near = adaann.fit(native).resampled(100).array
    points = np.concatenate([near, problem.draw_prior(np.random.default_rng(1), 100)])
    ours, theirs = np.asarray(jax.jit(jax.vmap(problem.log_density))(points)), native.log_density(points)
    finite = np.isfinite(theirs)
    assert (finite == np.isfinite(ours)).all(), "other points have no density"
    return np.max(np.abs(ours - theirs)[finite] / np.maximum(1.0, np.abs(theirs[finite])))


def of_jax(runs=12):
    import jax
    from problem import hiv

    from adaann import _core
    from adaann.targets import adapt

    problem = hiv()
    apart = agreement(problem, adaann.density("hiv"))
    print(f"\nHIV in JAX: log densities agree with the registry's to {apart:.1e} at 200 points")
    assert apart < 1e-8

    likelihood, prior = jax.jit(problem.log_likelihood), jax.jit(problem.log_prior)

    def fit():
        """Fits as adaann.fit does, and records the seconds of every batch."""
        recorded = Recorded(adapt(likelihood, names=problem.names, prior=prior))
        answer = _core.fit({"target": recorded, "name": "hiv", "identity": ""}, [])
        return recorded, json.loads(answer.summary())["seconds"], answer.cost()

    first, first_seconds, _ = fit()
    batches = first.batches
    rows_of = [(np.ascontiguousarray(points.T), gradient) for points, gradient in batches]
    lengths = Counter((points.shape[1], gradient) for points, gradient in batches)
    values = jax.jit(jax.vmap(problem.log_density))
    slopes = jax.jit(jax.vmap(jax.value_and_grad(problem.log_density)))

    def replay():
        """Calls JAX as a user would: the unchanged batch, with NumPy arrays as results."""
        seconds = []
        for points, gradient in rows_of:
            start = perf_counter()
            if gradient:
                value, slope = slopes(points)
                np.asarray(value), np.asarray(slope)
            else:
                np.asarray(values(points))
            seconds.append(perf_counter() - start)
        return seconds

    exact_seconds = sum(replay())  # compiles
    owns, inside, fits, costs, engines, between, natives = ([] for _ in range(7))
    for _ in range(runs):
        owns.append(replay())
        recorded, seconds, (calls, points, cost) = fit()
        assert calls == len(batches), "another fit than the first"
        inside.append(recorded.seconds)
        fits.append(seconds)
        costs.append(cost)
        engines.append(seconds - cost)
        between.append((cost - sum(recorded.seconds)) / calls)
        natives.append(adaann.fit("hiv").info["seconds"])

    # Each batch is the same in every run, so the minimum of its times excludes other work on the machine.
    own = np.min(owns, axis=0).sum()
    target = np.min(inside, axis=0).sum() + calls * min(between)
    engine = min(engines)
    allowed = engine + MOST_OF_JAX * own

    def row(name, best, all_of_it):
        return [name, f"{1e3 * best:.1f}", f"{1e3 * statistics.median(all_of_it):.1f}"]

    table(
        f"HIV, {calls} batches of {len(lengths)} kinds, {points:,} points; {runs} fits in turns, compiled before",
        ["milliseconds", "least", "median"],
        [
            row("JAX alone, each batch at its own length", own, [sum(run) for run in owns]),
            row("the target within the fit (JAX, filling up, conversion)", target, costs),
            row("the engine within the fit", engine, engines),
            row("the fit of the JAX target", engine + target, fits),
            row("the native fit, target and all", min(natives), natives),
        ],
    )
    print(f"\ntarget within the fit over JAX alone  {target / own:.2f}, of medians {statistics.median(costs) / statistics.median(map(sum, owns)):.2f}")
    print(
        f"fit of the JAX target                 {1e3 * (engine + target):.1f} ms; the engine and {MOST_OF_JAX} times JAX: "
        f"{1e3 * allowed:.1f} ms: {verdict(engine + target, allowed)}"
    )
    print(f"between engine and adapter            {1e6 * min(between):.1f} µs a call")
    print(f"compilations                          {first.compilations}; with them the first fit took {first_seconds:.1f} s")
    print(f"JAX alone, a program for each length  {exact_seconds:.1f} s with {len(lengths)} programs")
    print("least: the sum over batches of the least time of each, so that other work on the machine is not counted")


def of_loops(runs=100):
    from loops import epidemic, hidden_chain, oscillators
    from problem import hiv, lotka_volterra

    from adaann.targets import adapt, jax_program

    rng, most, rows = np.random.default_rng(1), jax_program.MOST_BYTES, []
    functions = [
        ("HIV", hiv().log_density, hiv().draw_prior),
        ("Lotka-Volterra", lotka_volterra().log_density, lotka_volterra().draw_prior),
        ("epidemic", epidemic, lambda rng, n: 0.3 * rng.normal(size=(n, 3))),
        ("5 oscillators", oscillators(5), lambda rng, n: rng.normal(size=(n, 3))),
        ("40 oscillators", oscillators(40), lambda rng, n: rng.normal(size=(n, 3))),
        ("200 oscillators", oscillators(200), lambda rng, n: rng.normal(size=(n, 3))),
        # The limit of the package was chosen without this one.
        ("hidden chain", hidden_chain, lambda rng, n: 0.3 * rng.normal(size=(n, 3))),
    ]
    for name, function, draw in functions:
        for count, gradient in ((1, True), (48, True), (520, True), (64, False), (1060, False)):
            points = np.ascontiguousarray(draw(rng, count).T)
            targets, best = [], [np.inf, np.inf]
            for jax_program.MOST_BYTES in (0, most):
                targets.append(adapt(function, dim=len(points), backend="jax"))
                targets[-1].evaluate(points, gradient)
            batch = targets[1].batch
            (program,) = (batch._slopes if gradient else batch._numbers)._compiled.values()
            for _ in range(runs if count < 100 else runs // 5):
                for i, target in enumerate(targets):
                    start = perf_counter()
                    target.evaluate(points, gradient)
                    best[i] = min(best[i], perf_counter() - start)
            how = "one kernel" if "xla_cpu_small_call" in program.as_text() else "as ever"
            what = f"{count:,} {'gradient' if gradient else 'value'}{'s' if count > 1 else ''}"
            rows.append([name, what, f"{1e6 * best[0]:,.0f}", f"{1e6 * best[1]:,.0f}", how, f"{best[0] / best[1]:.2f}"])
    table(
        f"Loops in JAX: µs a call, least of {runs} and of {runs // 5} in turns",
        ["", "", "as JAX has it", "as the package has it", "which is", "times faster"],
        rows,
    )


def of_models(runs=7):
    program = os.environ.get("ADAANN", str(ROOT / "target" / "release" / "adaann"))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("lotka_volterra", "eight_schools", "garch"):
            path = ROOT / "models" / f"{name}.toml"
            here, there, cpu_here, cpu_there = [], [], [], []
            for run in range(runs):
                out = Path(folder) / f"{name}-{run}"
                before = cpu(resource.RUSAGE_CHILDREN)
                subprocess.run([program, "fit", path, "--out", out], check=True, capture_output=True)
                cpu_there.append(cpu(resource.RUSAGE_CHILDREN) - before)
                outside = json.loads((out / "summary.json").read_text())
                there.append(outside["seconds"])
                before = cpu(resource.RUSAGE_SELF)
                result = adaann.fit(path, out=out.with_name(out.name + "-python"))
                cpu_here.append(cpu(resource.RUSAGE_SELF) - before)
                here.append(result.info["seconds"])
                assert result.info["log_z"] == outside["log_z"], "not the same run"
            ratio = statistics.median(here) / statistics.median(there)
            rows.append([
                f"{name}.toml", f"{statistics.median(here):.3f}", f"{statistics.median(there):.3f}", f"{ratio:.3f}",
                f"{min(here) / min(there):.3f}", f"{statistics.median(cpu_here) / statistics.median(cpu_there):.3f}",
                verdict(ratio, 1 + MOST_APART),
            ])  # fmt: skip
    table(
        f"Model files from Python and by the command line, in turns, medians of {runs}",
        ["", "s, Python", "s, command line", "ratio", "of the least", "of CPU time", f"at most {1 + MOST_APART}"],
        rows,
    )


def cpu(whose):
    """CPU seconds, which hardly depend on other work on the machine."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


PARTS = {"numpy": of_numpy, "jax": of_jax, "loops": of_loops, "models": of_models}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(PARTS)
    if not set(wanted) <= set(PARTS):
        sys.exit(f"usage: overhead.py [{'] ['.join(PARTS)}]")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for part in wanted:
        PARTS[part]()
