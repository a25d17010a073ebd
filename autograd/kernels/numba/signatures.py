"""The compiled kernels by name, and what each is called with: read where they are called and where they are compiled.

a: a float32 array, d: a float64 array, i: an int64 array, h: an array of 16 bits, all in C order; n: a whole number (an
address, too); f: a float32 number, e: a float64 one.
"""

SETTINGS = {"relu": 0, "gelu": 0, "gelu_tanh": 0, "silu": 0, "mish": 0, "hardswish": 0, "leaky_relu": 1, "hardtanh": 2,
            "softplus": 2, "elu": 3}             # of activations
SIGNATURES = {
    "adam": "aaaanffffffffff",               # p, g, m, v; size; shrink, decay, sign, beta1, 1 - beta1, beta2, 1 - beta2, ...
    "sgd": "aanfff",                         # p, g; size; lr, decay, sign
    "sgd_momentum": "aaanfffffnn",           # p, g, v; size; lr, decay, sign, momentum, share; nesterov, fresh
    **{name: "aan" + "f" * count for name, count in SETTINGS.items()},                       # x, out; size; settings
    **{f"{name}_backward": "aaan" + "f" * count for name, count in SETTINGS.items()},        # g, x, out; size; settings
    "gelu_double": "ddn",
    "gelu_backward_double": "dddn",
    "sigmoid": "aan",
    "relu_over": "aan",                      # g, x; size
    "logit_loss": "aaan",                    # x, target, out; size
    "to_half": "ahn",                        # x, the bits of its halves; size
    "from_half": "han",
    "to_bfloat16": "ahn",
    "remainders": "aaainnn",                 # x, y, out, how many failed; size, whether y has as many, and the sign
    # steps, how many, width, (whether there is a g,) address of sgemm come last
    "lstm": "aaaaaaaainnn",                  # gates, h, c, W^T, h before, c before, tanhs, outputs
    "lstm_backward": "aaaaaaaainnnn",        # gates, c before, tanhs, g, gh, gc, W, d
    "gru": "aaaaaaaainnn",                   # gates, h, W^T, memory, bias, h before, inner, outputs
    "gru_backward": "aaaaaaaainnnn",         # gates, h before, inner, g, gh, W, d, d inner
    "softmax": "aann",                       # x, out; rows, columns
    "softmax_backward": "aaann",             # z, g, out; rows, columns
    "power_sums": "aaaann",                  # x, memory for a row, tops, sums; rows, columns
    "log_softmax_backward": "aaann",         # z, g, out; rows, columns
    "cross_entropy_backward": "aaaaiann",    # x, tops, factor, share, target, out; rows, columns
    "attention_softmax": "aaannnnf",         # scores, tops, sums; matrices, rows, columns, first row or -1; scale
    "attention_again": "aaannnnf",
    "attention_backward": "aannf",           # p, g; rows, columns; scale
    "add_rows": "aiann",                     # out, index, values; how many, columns
    "extreme_rows": "aiannf",                # the same; 1 for the largest, -1 for the smallest
    "gather": "aiannnn",                     # x, index, out; blocks, size in x and in the index, what lies behind it
    "scatter_add": "aiannnn",                # out, index, src; the same
    "words": "ainnn",                        # x, out; rows, columns, -1 for the largest first
    "leading": "aiinnnn",                    # x, out, memory for k; rows, columns, k, the same
    "sums": "adannn",                        # x, totals, out; blocks, what is added up, what lies behind it
    "middle_power_sums": "aadaannn",         # x, memory, memory, tops, sums; the same
    "logsumexp_backward": "aaaannn",         # x, z, g, out; the same
    "running_sums": "adannnn",               # x, totals, out; the same, and whether from the end
    "running_products": "aannn",             # x, out; the same
    "running_places": "aiannnn",             # x, out, memory; the same; 0 for the largest, -1 for the smallest
    "extremes": "aannnf",                    # x, out; the same; 1 for the largest, -1 for the smallest
    "layer_norm": "aaaaaannnf",              # x, weight, bias, out, means, scales; rows, columns, parts; eps
    "layer_norm_backward": "aaaaaaaadnnn",   # g, x, weight, means, scales, gx, gw, gb, totals; rows, columns, parts
    "group_norm": "aaaaaaadannnnnnnnf",      # x, weight, bias, out, means, variances, scales, totals, room; ...; eps
    "group_norm_backward": "aaaaaaaadannnnnnnn",     # g, x, weight, means, scales, gx, gw, gb, totals, room; sizes, parts
}
# The same for float64, in which they round as NumPy's do: no exponentials, and nothing fused.
DOUBLE = ("adam", "sgd", "sgd_momentum", "relu", "relu_backward", "relu_over", "leaky_relu", "leaky_relu_backward")
IN_DOUBLE = str.maketrans("af", "de")
SIGNATURES |= {f"{name}_double": SIGNATURES[name].translate(IN_DOUBLE) for name in DOUBLE}
CENTRED, WEIGHTED, SHIFTED = 1, 2, 4         # parts of layer_norm: the mean is taken out, there is a weight, a bias
OF_X, OF_WEIGHT, OF_BIAS = 8, 16, 32         # and which gradients are wanted
SUMS, OUTPUT = 8, 16                         # parts of group_norm: what it does
