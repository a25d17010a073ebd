"""The package of PyTorch's `torch.utils` names: data."""
