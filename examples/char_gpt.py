"""A small GPT on the characters of Python's standard library: next-character prediction, then a sample of its own.

    python examples/char_gpt.py
    dprun -n 2 examples/char_gpt.py
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


class Block(nn.Module):
    """Attention to what came before, then a two-layer network, each added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        n, t, c = x.shape
        parts = self.qkv(self.norm1(x)).split(c, 2)
        q, k, v = (part.reshape(n, t, self.heads, c // self.heads).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Embeddings of characters and places, blocks, and one score per character."""

    def __init__(self, letters, width, heads, layers, context):
        super().__init__()
        self.context = context
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, x):
        y = self.letter(x) + self.place(ag.arange(x.shape[1]))
        return self.head(self.norm(self.blocks(y)))

    @ag.no_grad()
    def sample(self, start, count):
        """`count` characters drawn after the numbers `start`."""
        numbers = list(start)
        for _ in range(count):
            scores = self(ag.tensor([numbers[-self.context:]]))[0, -1]
            numbers.append(ag.multinomial(F.softmax(scores / 0.8, -1), 1).item())
        return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rows", type=int, default=24, help="sequences of a batch over all ranks")
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--plot", default="char_gpt.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm, text = world(), Text()
    ag.manual_seed(0)
    net = GPT(len(text.letters), width=96, heads=4, layers=3, context=options.context)
    model = DataParallel(net)
    optimizer = optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.99))
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    losses = []
    bar = tqdm(range(options.steps), disable=comm.rank != 0)
    for step in bar:
        x, y = text.batch(options.rows, options.context, step, comm)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(comm.total(loss.item() * len(x)) / options.rows)
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
    final = sum(losses[-20:]) / len(losses[-20:])
    if comm.rank == 0:
        print(text.words(net.sample(text.data[:16].tolist(), 200)))
        print(f"loss of the last batches: {final:.3f} nats, {final / math.log(2):.2f} bits per character")
        if options.plot:
            pictures.curve(options.plot, losses, "Character GPT", "cross entropy")


if __name__ == "__main__":
    main()
