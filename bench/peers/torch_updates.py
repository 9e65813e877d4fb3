"""One parameter update in eager PyTorch: a module per layer and a Python loop over them.

It uses the fused Adam, whose step takes a fifth of the time of the default, which would be about
15 per cent of the update.
"""

import time

import torch
from torch import nn

from problems import (
    BASE_SCALE,
    BETA1,
    BETA2,
    EPSILON,
    LEARNING_RATE,
    LOSS_WINDOW,
    SEED,
    SOFTPLUS_SHIFT,
    arguments,
    chosen,
    initial_parameters,
    log_q0_constant,
    report,
)
from torch_odes import log_p as ode_log_p

# Updates per timed block: long beside the clock, and short beside the budget even where an
# update takes a tenth of a second, so that the best is one of several.
BLOCK = 5


class Planar(nn.Module):
    def __init__(self, w, u, b):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(w))
        self.u = nn.Parameter(torch.tensor(u))
        self.b = nn.Parameter(torch.tensor(b))

    def forward(self, z):
        w, u = self.w, self.u
        wu = w @ u
        m = -1.0 + nn.functional.softplus(wu + SOFTPLUS_SHIFT)
        u_hat = u + (m - wu) * w / (w @ w)
        h = torch.tanh(z @ w + self.b)
        log_det = torch.log(torch.abs(1.0 + m * (1.0 - h * h)))  # w.u_hat = m
        return z + h[:, None] * u_hat, log_det


class Flow(nn.Module):
    def __init__(self, problem):
        super().__init__()
        start = initial_parameters(problem)
        self.layers = nn.ModuleList(
            Planar(w, u, b) for w, u, b in zip(start["w"], start["u"], start["b"])
        )

    def forward(self, z):
        sum_log_det = torch.zeros(z.shape[0])
        for layer in self.layers:
            z, log_det = layer(z)
            sum_log_det = sum_log_det + log_det
        return z, sum_log_det


class Training:
    def __init__(self, problem):
        torch.manual_seed(SEED)
        self.problem = problem
        self.flow = Flow(problem)
        self.optimizer = torch.optim.Adam(
            self.flow.parameters(),
            lr=LEARNING_RATE,
            betas=(BETA1, BETA2),
            eps=EPSILON,
            fused=True,
        )

    def update(self):
        problem = self.problem
        eps = torch.randn(problem.points, problem.dim)
        loss = self.neg_elbo(eps)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def neg_elbo(self, eps):
        problem = self.problem
        log_q0 = log_q0_constant(problem.dim) - 0.5 * (eps * eps).sum(1)
        z, sum_log_det = self.flow(problem.base_mean + BASE_SCALE * eps)
        if problem.ode:
            log_p = ode_log_p(problem.ode, z)
        else:
            log_p = problem.log_p(z.unbind(1), torch)
        return (log_q0 - sum_log_det - problem.inverse_temperature * log_p).mean()


def best_block(training, seconds):
    """Least seconds per update among blocks that fill the budget, and every loss."""
    losses = [training.update() for _ in range(3)]
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        losses += [training.update() for _ in range(BLOCK)]
        best = min(best, (time.perf_counter() - start) / BLOCK)
    return best, losses


def main():
    args = arguments(__doc__).parse_args()
    torch.set_default_dtype(torch.float64)
    for problem in chosen(args):
        training = Training(problem)
        timings, losses = {}, []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            timings[threads], more = best_block(training, args.seconds / 2)
            losses += more
        threads = min(timings, key=timings.get)
        torch.set_num_threads(threads)
        while len(losses) < problem.loss_updates:
            losses.append(training.update())
        window = torch.stack(losses[problem.loss_updates - LOSS_WINDOW : problem.loss_updates])
        report(
            "torch",
            problem,
            1e6 * timings[threads],
            f"eager, {threads} thread{'s' if threads > 1 else ''}",
            window.mean().item(),
        )


if __name__ == "__main__":
    main()
