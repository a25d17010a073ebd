"""Random tensors, and random numbers put into tensors."""
