"""The compiled kernels by name, and what each is called with: read where they are called and where they are compiled.

a: a float32 array, i: an int64 array, both in C order; n: a whole number; f: a float32 number.
"""

SIGNATURES = {
    "adam": "aaaanffffffffff",               # p, g, m, v; size; shrink, decay, sign, beta1, 1 - beta1, beta2, 1 - beta2, ...
    "sgd": "aanfff",                         # p, g; size; lr, decay, sign
    "sgd_momentum": "aaanfffffnn",           # p, g, v; size; lr, decay, sign, momentum, share; nesterov, fresh
    "gelu": "aan",                           # x, out; size
    "gelu_backward": "aaan",                 # g, x, out; size
    "gelu_tanh": "aan",
    "gelu_tanh_backward": "aaan",
    "lstm_step": "aaaaaann",                 # gates, c, c before, tanh, outputs, h; rows, width
    "lstm_step_backward": "aaaaaaannn",      # gates, c before, tanh, g, gh, gc, d; rows, width, whether there is a g
    "gru_step": "aaaaaann",                  # gates, recurrent part, bias, inner, h, outputs; rows, width
    "gru_step_backward": "aaaaaaannn",       # gates, h before, inner, g, gh, d, d inner; rows, width, whether there is a g
    "softmax": "aann",                       # x, out; rows, columns
    "softmax_backward": "aaann",             # z, g, out; rows, columns
    "power_sums": "aaaann",                  # x, memory for a row, tops, sums; rows, columns
    "log_softmax_backward": "aaann",         # z, g, out; rows, columns
    "cross_entropy_backward": "aaaaiann",    # x, tops, factor, share, target, out; rows, columns
    "attention_softmax": "aaannnnf",         # scores, tops, sums; matrices, rows, columns, first row or -1; scale
    "attention_again": "aaannnnf",
    "attention_backward": "aannf",           # p, g; rows, columns; scale
    "layer_norm": "aaaaaannnf",              # x, weight, bias, out, means, scales; rows, columns, parts; eps
    "layer_norm_backward": "aaaaaaaannn",    # g, x, weight, means, scales, gx, gw, gb; rows, columns, parts
}
CENTRED, WEIGHTED, SHIFTED = 1, 2, 4         # parts of layer_norm: the mean is taken out, there is a weight, a bias
OF_X, OF_WEIGHT, OF_BIAS = 8, 16, 32         # and which gradients are wanted
