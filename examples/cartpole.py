"""A policy gradient (REINFORCE, Williams 1992) that balances a pole on a cart; each rank plays games of its own.

    python examples/cartpole.py
    dprun -n 2 examples/cartpole.py
"""

import argparse

import numpy as np
import pictures
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, world

GRAVITY, CART, POLE, HALF, FORCE, DT = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02      # SI units; Barto, Sutton & Anderson 1983
LONGEST = 200


def moved(state, push):
    """The next state of many carts: (place, speed, angle, turning speed), pushed left (0) or right (1)."""
    x, v, a, w = state.T
    force = np.where(push == 1, FORCE, -FORCE)
    total = CART + POLE
    temp = (force + POLE * HALF * w ** 2 * np.sin(a)) / total
    turn = (GRAVITY * np.sin(a) - np.cos(a) * temp) / (HALF * (4 / 3 - POLE * np.cos(a) ** 2 / total))
    speed_up = temp - POLE * HALF * turn * np.cos(a) / total
    return np.stack([x + DT * v, v + DT * speed_up, a + DT * w, w + DT * turn], 1)


def play(net, games, rng):
    """States, pushes and the number of steps still made after each, of `games` games; and the lengths of the games."""
    state = rng.uniform(-0.05, 0.05, (games, 4))
    alive, lengths, record = np.ones(games, bool), np.zeros(games), []
    while alive.any() and len(record) < LONGEST:
        with ag.no_grad():
            right = F.softmax(net(ag.tensor(state, dtype=ag.float32)), 1).numpy()[:, 1]
        push = (rng.random(games) < right).astype(np.int64)
        record.append((state, push, alive))
        lengths += alive
        state = moved(state, push)
        alive = alive & (abs(state[:, 0]) < 2.4) & (abs(state[:, 2]) < 12 * np.pi / 180)
    states, pushes, alive = (np.stack(part) for part in zip(*record, strict=True))
    left = lengths - np.arange(len(record))[:, None]
    return states[alive], pushes[alive], left[alive], lengths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--games", type=int, default=16, help="games of a round over all ranks")
    parser.add_argument("--plot", default="cartpole.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm = world()
    ag.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    model = DataParallel(net)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    rng = np.random.default_rng([3, comm.rank])
    mine = len(comm.share(range(options.games)))
    scores = []
    bar = tqdm(range(options.rounds), disable=comm.rank != 0)
    for _ in bar:
        states, pushes, left, lengths = play(net, mine, rng)
        steps = comm.total(float(len(left)))
        mean = comm.total(left.sum()) / steps
        spread = (comm.total(((left - mean) ** 2).sum()) / steps) ** 0.5
        optimizer.zero_grad()
        log_p = F.log_softmax(model(ag.tensor(states, dtype=ag.float32)), 1)
        chosen = log_p.gather(1, ag.tensor(pushes)[:, None])[:, 0]
        loss = -(chosen * ag.tensor((left - mean) / (spread + 1e-8), dtype=ag.float32)).mean()
        loss.backward()
        optimizer.step()
        scores.append(comm.total(lengths.sum()) / options.games)
        bar.set_postfix(steps=f"{scores[-1]:.0f}")
    if comm.rank == 0:
        print(f"steps before the pole falls, mean of the last rounds: {np.mean(scores[-10:]):.0f} of {LONGEST}, "
              f"at first {scores[0]:.0f}")
        if options.plot:
            pictures.curve(options.plot, scores, "Cart-pole", "steps", log=False)


if __name__ == "__main__":
    main()
