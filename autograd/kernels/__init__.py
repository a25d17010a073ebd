"""Kernels: arrays in, arrays out, no Tensor. One module for each family of algorithms, plain NumPy."""
