"""Look into a run: the profiler, memory, the graph as a picture, a model's summary, flop counts, TensorBoard.

May import: base, core, kernels, modes, nn, spans. Read first: profiler/profile.py, debug/drawing.py, summary.py."""
