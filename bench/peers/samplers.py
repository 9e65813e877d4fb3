"""nautilus, dynesty and blackjax's SMC on mixtures with a uniform or normal prior.

Reads one JSON object from the standard input: mixtures as written by bench/src/ladder/components.rs or
bench/src/honesty/peers.rs, seeds, the total time limit in seconds, and optionally the limit of each run.
Prints one JSON object per line: sampler, name, seed, evaluations, seconds, log_z and the share of the sample
nearest to each component, or an error. After the time limit no run starts, and a running one is stopped. The
slowest sampler comes last, and its largest target at the end, so that a lack of time affects whole rows.
Seconds are those of one core, and include compiling for blackjax.

Samplers use their defaults if they have any: nautilus with 2,000 live points, the static sampler of dynesty
with 500 and its default bounds. blackjax has no defaults: 2,000 particles, temperatures by an ESS of one
half, five Hamiltonian moves of ten steps at each, with a step size of a quarter of the narrowest width.
"""
import contextlib
import json
import os
import sys
import time

# With small matrices, the synchronisation of threads costs more than it gains, especially on a busy machine.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np


class Over(Exception):
    """Raised when the time is over."""


class Mixture:
    def __init__(self, given, deadline):
        self.name, self.log_z, parts = given["name"], given["log_z"], given["components"]
        # A uniform prior between two bounds, or a normal one, in every coordinate.
        self.prior = given.get("prior") or {"low": -given["side"], "high": given["side"]}
        assert all(part["shape"] == "normal" for part in parts), "normal components only"
        self.dim = len(parts[0]["mean"])
        self.means = np.array([part["mean"] for part in parts])
        factors = [np.array(part["factor"]).reshape(self.dim, self.dim) for part in parts]
        self.inverses = np.array([np.linalg.inv(factor) for factor in factors])
        log_dets = np.array([np.log(np.diag(factor)).sum() for factor in factors])
        weights = np.array([part["weight"] for part in parts])
        self.constants = np.log(weights) - log_dets - 0.5 * self.dim * np.log(2 * np.pi) + self.log_z
        self.step = 0.25 * min(np.linalg.svd(factor, compute_uv=False)[-1] for factor in factors)
        self.deadline, self.evaluations = deadline, 0

    def log_likelihood(self, x):
        if time.time() > self.deadline:
            raise Over
        x = np.atleast_2d(x)
        self.evaluations += len(x)
        white = np.einsum("kij,nkj->nki", self.inverses, x[:, None] - self.means)
        value = np.logaddexp.reduce(self.constants - 0.5 * (white**2).sum(2), axis=1)
        return value if len(value) > 1 else float(value[0])

    def from_cube(self, u):
        if "low" in self.prior:
            return self.prior["low"] + (self.prior["high"] - self.prior["low"]) * u
        from scipy.special import ndtri

        return np.array(self.prior["mean"]) + self.prior["sd"] * ndtri(u)

    def shares(self, x, weights):
        """The weight of the points nearest to each mean, in the first component's own metric."""
        offsets = x[:, None] - self.means
        distances = (np.einsum("ij,nkj->nki", self.inverses[0], offsets) ** 2).sum(2)
        nearest = np.argmin(distances, axis=1)
        weights = weights / weights.sum()
        return [float(weights[nearest == k].sum()) for k in range(len(self.means))]


def nautilus(mixture, seed):
    from nautilus import Sampler

    sampler = Sampler(mixture.from_cube, mixture.log_likelihood, mixture.dim, seed=seed, vectorized=True)
    sampler.run(discard_exploration=False, verbose=False)
    points, log_weights, _ = sampler.posterior()
    return sampler.log_z, mixture.shares(points, np.exp(log_weights - log_weights.max()))


def dynesty(mixture, seed):
    import dynesty

    sampler = dynesty.NestedSampler(
        mixture.log_likelihood, mixture.from_cube, mixture.dim, rstate=np.random.default_rng(seed)
    )
    sampler.run_nested(print_progress=False)
    results = sampler.results
    return results.logz[-1], mixture.shares(results.samples, results.importance_weights())


def blackjax(mixture, seed):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    import blackjax
    import blackjax.smc.resampling as resampling

    particles, moves, steps = 2_000, 5, 10
    constants, inverses, means = map(jnp.asarray, (mixture.constants, mixture.inverses, mixture.means))

    prior = mixture.prior

    def log_prior(x):
        if "low" in prior:
            inside = jnp.all((x >= prior["low"]) & (x <= prior["high"]))
            return jnp.where(inside, -mixture.dim * jnp.log(prior["high"] - prior["low"]), -jnp.inf)
        return jax.scipy.stats.norm.logpdf(x, jnp.array(prior["mean"]), prior["sd"]).sum()

    def log_likelihood(x):
        white = jnp.einsum("kij,kj->ki", inverses, x - means)
        return jax.scipy.special.logsumexp(constants - 0.5 * (white**2).sum(1))

    parameters = dict(
        step_size=mixture.step, inverse_mass_matrix=jnp.ones(mixture.dim), num_integration_steps=steps
    )
    smc = blackjax.adaptive_tempered_smc(
        log_prior,
        log_likelihood,
        blackjax.hmc.build_kernel(),
        blackjax.hmc.init,
        blackjax.smc.extend_params(parameters),
        resampling.systematic,
        0.5,
        num_mcmc_steps=moves,
    )
    key = jax.random.PRNGKey(seed)
    key, own = jax.random.split(key)
    start = jnp.asarray(mixture.from_cube(np.asarray(jax.random.uniform(own, (particles, mixture.dim)))))
    state, step, log_z = smc.init(start), jax.jit(smc.step), 0.0
    mixture.evaluations += particles
    while state.tempering_param < 1.0:
        if time.time() > mixture.deadline:
            raise Over
        key, own = jax.random.split(key)
        state, info = step(own, state)
        log_z += float(info.log_likelihood_increment)
        # The weights of all particles, then the start and every step of every move.
        mixture.evaluations += particles * (1 + moves * (1 + steps))
    return log_z, mixture.shares(np.asarray(state.particles), np.asarray(state.weights))


def main():
    given = json.load(sys.stdin)
    deadline = time.time() + given["seconds"]
    for sampler in (dynesty, blackjax, nautilus):
        for mixture in given["mixtures"]:
            for seed in given["seeds"]:
                start = time.time()
                target = Mixture(mixture, min(deadline, start + given.get("each", np.inf)))
                line = dict(sampler=sampler.__name__, name=target.name, seed=seed)
                try:
                    if start > deadline:
                        raise Over
                    # Keep the output of samplers out of ours: dynesty prints its errors.
                    with contextlib.redirect_stdout(sys.stderr):
                        log_z, line["modes"] = sampler(target, seed)
                    line["log_z"] = float(log_z)
                except Over:
                    line["failed"] = "no time left"
                except Exception as error:  # a failure becomes a line of the table
                    line["failed"] = f"{type(error).__name__}: {error}"
                line["seconds"], line["evaluations"] = time.time() - start, target.evaluations
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
