"""torch.version under the alias: the PyTorch whose interface is here."""

from autograd.base.version import TorchVersion, cuda, debug, hip, torch_level

__version__ = TorchVersion(torch_level)
git_version = None

__all__ = ["__version__", "cuda", "debug", "git_version", "hip"]
