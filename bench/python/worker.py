"""Runs one sampler on one problem, and prints one JSON object with its results and cost.

usage: worker.py SAMPLER PROBLEM SEED       peers.py starts it, in the environment that has the sampler

Seconds begin after the imports and include compiling. Settings are the samplers' own where they have any.
NUTS: four chains of 1,000 draws after 1,000 of warm-up, from uniform(-2, 2) in unbounded coordinates, as Stan,
numpyro and PyMC begin; nutpie begins there too, and has six chains and 400 of warm-up. nautilus: 2,000 live
points; dynesty: static, 500 live points. blackjax's SMC has no defaults: 2,000 particles from the prior,
temperatures by an ESS of one half, five Hamiltonian moves of ten steps of a quarter of the widths of the
posterior's modes, which only this benchmark can know.
"""

import json
import os
import sys
import time
from contextlib import redirect_stdout

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import jax
import jax.numpy as jnp
import numpy as np

from problem import MODELS, PROBLEMS

CHAINS, WARMUP, DRAWS = 4, 1_000, 1_000


def described(problem, points, weights=None):
    """The errors of means, and the mass of the mode on the positive side."""
    points = np.asarray(points)
    weights = np.full(len(points), 1.0 / len(points)) if weights is None else weights / weights.sum()
    mean = weights @ points
    sd = np.sqrt(weights @ (points - mean) ** 2)
    found = dict(
        error=float(np.max(np.abs(mean - problem.mean) / problem.sd)),
        spread=float(np.exp(np.max(np.abs(np.log(sd / problem.sd))))) if (sd > 0).all() else None,
    )
    if problem.split is not None:
        found["weight"] = float(weights @ (points[:, problem.split] > 0))
    return found


def of_adaann(problem, result):
    draws = result.draws
    points = np.stack([draws[name] for name in problem.names], axis=1)
    evidence = result.log_evidence
    return dict(
        evaluations=result.evaluations, log_z=evidence and evidence.value, log_z_error=evidence and evidence.error,
        says=result.verdict.trust, **described(problem, points, draws.weights),
    )  # fmt: skip


def adaann_jax(problem, seed):
    import adaann

    target = dict(names=problem.names, bounds=problem.bounds or None, prior=jax.jit(problem.log_prior), seed=seed)
    likelihood = jax.jit(problem.log_likelihood)
    result = adaann.fit(likelihood, **target)
    yield of_adaann(problem, result)
    yield of_adaann(problem, adaann.fit(likelihood, **target))


def adaann_native(problem, seed):
    import adaann

    target = "hiv" if problem.name == "hiv" else MODELS / "lotka_volterra.toml"
    yield of_adaann(problem, adaann.fit(target, seed=seed))


def start(problem, seed, chains):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, size=(chains, problem.dim))


def numpyro(problem, seed):
    from numpyro.infer import MCMC, NUTS

    chains = MCMC(
        NUTS(potential_fn=lambda y: -problem.log_density_unbounded(y)), num_warmup=WARMUP, num_samples=DRAWS,
        num_chains=CHAINS, chain_method="vectorized", progress_bar=False,
    )  # fmt: skip
    keys = jax.random.split(jax.random.PRNGKey(seed))
    count = lambda: int(chains.get_extra_fields()["num_steps"].sum())  # noqa: E731
    init = jnp.asarray(start(problem, seed, CHAINS))
    chains.warmup(keys[0], init_params=init, extra_fields=("num_steps",), collect_warmup=True)
    evaluations = count()
    chains.run(keys[1], init_params=init, extra_fields=("num_steps",))
    yield dict(evaluations=evaluations + count(), **described(problem, problem.bounded(chains.get_samples())))


def nutpie(problem, seed):
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    both = jax.jit(jax.value_and_grad(problem.log_density_unbounded))

    def log_density(y):
        value, slope = both(y)
        return float(value), np.asarray(slope)

    model = from_pyfunc(
        problem.dim, lambda: log_density, lambda *seeds_and_chain: lambda y: {"y": y},
        [np.dtype(float)], [(problem.dim,)], ["y"],
    )  # fmt: skip
    data = nutpie.sample(model, seed=seed, progress_bar=False)
    steps = int(data.sample_stats["n_steps"].sum()) + int(data.warmup_sample_stats["n_steps"].sum())
    points = problem.bounded(data.posterior["y"].values.reshape(-1, problem.dim))
    yield dict(evaluations=steps, **described(problem, points))


def pymc(problem, seed):
    import pymc
    import pytensor

    density = pytensor.wrap_jax(jax.jit(problem.log_density_unbounded))
    with pymc.Model():
        y = pymc.Flat("y", shape=problem.dim)
        pymc.Potential("log_density", density(y))
        data = pymc.sample(
            DRAWS, tune=WARMUP, chains=CHAINS, cores=1, random_seed=seed, progressbar=False,
            discard_tuned_samples=False, compute_convergence_checks=False,
            initvals=[{"y": row} for row in start(problem, seed, CHAINS)],
        )  # fmt: skip
    steps = int(data.sample_stats["n_steps"].sum()) + int(data.warmup_sample_stats["n_steps"].sum())
    points = problem.bounded(data.posterior["y"].values.reshape(-1, problem.dim))
    yield dict(evaluations=steps, **described(problem, points))


def blackjax(problem, seed):
    import blackjax
    import blackjax.smc.resampling as resampling

    particles, moves, steps = 2_000, 5, 10
    width = jnp.asarray(problem.width)
    smc = blackjax.adaptive_tempered_smc(
        lambda y: problem.log_prior(problem.bounded(y)) + problem.log_jacobian(y),
        # The likelihood is zero where a solution explodes.
        lambda y: jnp.nan_to_num(problem.log_likelihood(problem.bounded(y)), nan=-1e30, neginf=-1e30),
        blackjax.hmc.build_kernel(), blackjax.hmc.init,
        blackjax.smc.extend_params(
            dict(step_size=0.25, inverse_mass_matrix=width**2, num_integration_steps=steps)
        ),
        resampling.systematic, 0.5, num_mcmc_steps=moves,
    )  # fmt: skip
    points = problem.draw_prior(np.random.default_rng(seed), particles)
    state = smc.init(jnp.asarray(np.log(points) if problem.bounds else points))
    step, key, log_z, evaluations = jax.jit(smc.step), jax.random.PRNGKey(seed), 0.0, particles
    while state.tempering_param < 1.0:
        key, own = jax.random.split(key)
        state, info = step(own, state)
        log_z += float(info.log_likelihood_increment)
        evaluations += particles * (1 + moves * (1 + steps))
    found = described(problem, problem.bounded(state.particles), np.asarray(state.weights))
    yield dict(evaluations=evaluations, log_z=log_z, **found)


def likelihood_of(problem):
    """The likelihood of one or many points for NumPy samplers. It is zero where a solution explodes."""
    many = jax.jit(jax.vmap(problem.log_likelihood))

    def log_likelihood(x):
        values = np.asarray(many(np.atleast_2d(x)))
        values = np.where(np.isfinite(values), values, -1e30)
        return values if np.ndim(x) > 1 else float(values[0])

    return log_likelihood


def dynesty(problem, seed):
    import dynesty

    sampler = dynesty.NestedSampler(
        likelihood_of(problem), problem.from_cube, problem.dim, rstate=np.random.default_rng(seed)
    )
    sampler.run_nested(print_progress=False)
    found = sampler.results
    yield dict(
        evaluations=int(np.sum(found.ncall)), log_z=float(found.logz[-1]), log_z_error=float(found.logzerr[-1]),
        **described(problem, found.samples, np.exp(found.logwt - found.logz[-1])),
    )  # fmt: skip


def nautilus(problem, seed):
    from nautilus import Sampler

    sampler = Sampler(
        problem.from_cube, likelihood_of(problem), problem.dim, seed=seed, vectorized=True, pass_dict=False
    )
    sampler.run(verbose=False)
    points, log_weights, _ = sampler.posterior()
    found = described(problem, points, np.exp(log_weights - log_weights.max()))
    yield dict(evaluations=int(sampler.n_like), log_z=float(sampler.log_z), **found)


SAMPLERS = {
    function.__name__: function
    for function in (adaann_jax, adaann_native, numpyro, nutpie, pymc, blackjax, dynesty, nautilus)
}


def main():
    sampler, problem, seed = sys.argv[1:]
    problem = PROBLEMS[problem]()
    # The time of the sampler excludes imports.
    __import__(sampler.partition("_")[0])
    found = SAMPLERS[sampler](problem, int(seed))
    while True:
        begun = time.perf_counter()
        with redirect_stdout(sys.stderr):
            answer = next(found, None)
        if answer is None:
            break
        answer["seconds"] = time.perf_counter() - begun
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
