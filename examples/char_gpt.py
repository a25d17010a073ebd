"""A GPT that writes text character by character, after nanoGPT: one script to copy and change.

    python examples/char_gpt.py                                    learns from Python's own documentation, then writes
    dprun -n 2 examples/char_gpt.py --data tinyshakespeare.txt     two ranks share each batch; any text in UTF-8
    dprun -n 2 examples/char_gpt.py --resume                       continues after the newest checkpoint: bitwise on as many
                                                                   ranks; after the last step it only writes

Batches do not depend on the number of ranks: without --dropout 1, 2 or 20 ranks have the same curve of losses to rounding.
"""

import argparse
import math
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from autograd.utils.data import TensorDataset
from dparallel import DataParallel, Logger, assert_same_everywhere, evaluate, world
from dparallel.checkpoint import Checkpointer, Keep


class Attention(nn.Module):
    """Causal self-attention of several heads."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        return F.dropout(self.out(y.transpose(1, 2).reshape(n, t, c)), self.dropout, self.training)


class Block(nn.Module):
    """Attention to what came before, then a network of two layers, each added to its input."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Numbers of characters (n, t) -> scores of the next one (n, t, letters)."""

    def __init__(self, letters, width, heads, layers, context, dropout):
        super().__init__()
        self.context = context
        self.letter, self.place, self.drop = nn.Embedding(letters, width), nn.Embedding(context, width), nn.Dropout(dropout)
        self.blocks = nn.Sequential(*[Block(width, heads, dropout) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)
        self.head.weight = self.letter.weight                             # tied: Press & Wolf 2017
        for name, p in self.named_parameters():
            if p.dim() > 1:                                               # smaller where layers add to what comes through
                added = name.endswith(("out.weight", "mlp.2.weight"))
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * layers) if added else 0.02)

    def forward(self, x):
        y = self.drop(self.letter(x) + self.place(ag.arange(x.shape[1])))
        return self.head(self.norm(self.blocks(y)))

    @ag.no_grad()
    def generate(self, numbers, count, temperature=0.8, top_k=20):
        """(n, t) numbers, and `count` more drawn after each row."""
        for _ in range(count):
            scores = self(numbers[:, -self.context:])[:, -1] / temperature
            best = ag.topk(scores, min(top_k, scores.shape[1]))
            drawn = ag.multinomial(F.softmax(best.values, -1), 1)
            numbers = ag.cat([numbers, best.indices.gather(1, drawn)], 1)
        return numbers


class Text:
    """Characters as numbers: nine tenths of a text to train on, the last tenth held out."""

    def __init__(self, path):
        text = Path(path).read_text(encoding="utf-8") if path else "\n".join(topics[name] for name in sorted(topics))
        self.letters, numbers = np.unique(np.array(list(text)), return_inverse=True)
        self.train, self.held_out = np.split(numbers, [len(numbers) * 9 // 10])

    def batch(self, step, rows, context, comm):
        """This rank's share of the batch of a step, which all ranks draw alike: pieces, and the same one character later."""
        starts = np.random.default_rng([1, step]).integers(0, len(self.train) - context, rows)
        pieces = self.train[comm.share(starts)[:, None] + np.arange(context + 1)]
        return ag.from_numpy(pieces[:, :-1]), ag.from_numpy(pieces[:, 1:])

    def test_set(self, context, rows):
        """Pieces of the text that is held out, one after the other."""
        rows = min(rows, (len(self.held_out) - 1) // context)
        x, y = (ag.from_numpy(self.held_out[i:i + rows * context].reshape(rows, context)) for i in (0, 1))
        return TensorDataset(x, y)


def cross_entropy(scores, y):
    """The mean over characters, in nats."""
    return F.cross_entropy(scores.flatten(0, 1), y.flatten())


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="a text file; by default Python's own documentation (pydoc_data, 450 KB)")
    parser.add_argument("--out", default="char_gpt", help="the folder for checkpoints and logs, which all ranks share")
    parser.add_argument("--resume", action="store_true", help="continue after the newest checkpoint")
    parser.add_argument("--tensorboard", help="a folder for TensorBoard's files, too: pip install tensorboard")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32", help="of autocast")
    for name, default, words in (
            ("steps", 600, "of training"), ("batch", 32, "pieces of text in a batch, over all ranks"),
            ("context", 64, "characters of a piece"), ("width", 128, "of the model"), ("heads", 4, "of attention"),
            ("layers", 4, "blocks"), ("dropout", 0.0, "a share"), ("lr", 2e-3, "the largest learning rate"),
            ("warmup", 50, "steps to there"), ("decay", 0.1, "of weights"), ("clip", 1.0, "largest norm of the gradient"),
            ("log-every", 20, "steps"), ("eval-every", 200, "steps from one evaluation and checkpoint to the next"),
            ("eval-rows", 512, "pieces of the held-out text"), ("length", 300, "characters to write at the end"),
            ("seed", 0, "of weights and dropout")):
        parser.add_argument(f"--{name}", type=type(default), default=default, help=words)
    options = parser.parse_args(arguments)
    if options.width % options.heads:
        parser.error(f"--width {options.width}: a multiple of --heads, {options.heads}, is needed")
    return options


def main(arguments=None):
    options = parse(arguments)
    comm, text = world(), Text(options.data)
    if min(len(text.train), len(text.held_out)) <= options.context:
        raise ValueError(f"{options.data}: a tenth of the text has to be longer than --context {options.context}")
    test_set = text.test_set(options.context, options.eval_rows)
    ag.manual_seed(options.seed)
    net = GPT(len(text.letters), options.width, options.heads, options.layers, options.context, options.dropout)
    model = DataParallel(net)
    optimizer = optim.AdamW([{"params": [p for p in net.parameters() if p.dim() > 1], "weight_decay": options.decay},
                             {"params": [p for p in net.parameters() if p.dim() < 2], "weight_decay": 0.0}],
                            lr=options.lr, betas=(0.9, 0.99))
    warmup = max(1, options.warmup)
    scheduler = SequentialLR(optimizer, [
        LinearLR(optimizer, 1 / warmup, total_iters=warmup),
        CosineAnnealingLR(optimizer, max(1, options.steps - warmup), eta_min=options.lr / 10)], [warmup])
    scaler = ag.GradScaler("cpu", enabled=options.dtype == "float16")
    autocast = ag.autocast("cpu", getattr(ag, options.dtype), enabled=options.dtype != "float32")
    ag.manual_seed(options.seed + comm.rank)                              # each rank has dropout of its own

    with Checkpointer(options.out, model, optimizer, scheduler, scaler=scaler, keep=Keep(best=1)) as checkpoint:
        first = checkpoint.restore() if options.resume else 0
        with Logger(every=options.log_every, reduce={"characters": "sum", "lr": "last"}, step=first,
                    jsonl=f"{options.out}/log.jsonl", tensorboard=options.tensorboard) as log:
            for step in range(first, options.steps):
                x, y = text.batch(step, options.batch, options.context, comm)
                with autocast:
                    loss = cross_entropy(model(x), y)
                optimizer.zero_grad()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                norm = nn.utils.clip_grad_norm_(model.parameters(), options.clip)
                log(loss=loss, norm=norm, lr=scheduler.get_last_lr()[0], characters=x.numel(), rows=len(x))
                scaler.step(optimizer)
                scaler.update()
                scheduler.step()
                if (step + 1) % options.eval_every == 0 or step + 1 == options.steps:
                    with autocast:
                        result = log.now(evaluate(model, test_set, {"test_loss": cross_entropy}))
                    checkpoint.save(step + 1, metric=result["test_loss"])
    assert_same_everywhere(model)
    if comm.rank == 0:
        net.eval()
        start = ag.from_numpy(text.held_out[:16])[None]
        print("".join(text.letters[net.generate(start, options.length)[0].numpy()]))
    return model


if __name__ == "__main__":
    main()
