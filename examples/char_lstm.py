"""An LSTM on the characters of Python's standard library.

    python examples/char_lstm.py
    dprun -n 2 examples/char_lstm.py
"""

import argparse
import math

import pictures
from text import Text
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, world


class Net(nn.Module):
    """Embedding, two LSTM layers, one score per character."""

    def __init__(self, letters, width):
        super().__init__()
        self.letter = nn.Embedding(letters, width)
        self.lstm = nn.LSTM(width, 2 * width, num_layers=2, batch_first=True)
        self.head = nn.Linear(2 * width, letters)

    def forward(self, x, state=None):
        y, state = self.lstm(self.letter(x), state)
        return self.head(y), state


@ag.no_grad()
def sample(net, start, count):
    """`count` characters drawn after the numbers `start`."""
    numbers, state, given = list(start), None, list(start)
    for _ in range(count):
        scores, state = net(ag.tensor([given]), state)
        given = [ag.multinomial(F.softmax(scores[0, -1] / 0.8, -1), 1).item()]
        numbers += given
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rows", type=int, default=32, help="sequences of a batch over all ranks")
    parser.add_argument("--length", type=int, default=48)
    parser.add_argument("--plot", default="char_lstm.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm, text = world(), Text()
    ag.manual_seed(0)
    net = Net(len(text.letters), 64)
    model = DataParallel(net)
    optimizer = optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    bar = tqdm(range(options.steps), disable=comm.rank != 0)
    for step in bar:
        x, y = text.batch(options.rows, options.length, step, comm)
        optimizer.zero_grad()
        scores, _ = model(x)
        loss = F.cross_entropy(scores.flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(comm.total(loss.item() * len(x)) / options.rows)
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
    final = sum(losses[-20:]) / len(losses[-20:])
    if comm.rank == 0:
        print(text.words(sample(net, text.data[:16].tolist(), 200)))
        print(f"loss of the last batches: {final:.3f} nats, {final / math.log(2):.2f} bits per character")
        if options.plot:
            pictures.curve(options.plot, losses, "Character LSTM", "cross entropy")


if __name__ == "__main__":
    main()
