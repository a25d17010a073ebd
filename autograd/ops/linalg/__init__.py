"""Products of vectors and matrices, decompositions, solvers, distances."""
