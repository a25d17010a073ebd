"""Datasets, samplers, and the loader that makes batches of them."""

from .dataset import Dataset, TensorDataset
from .loader import DataLoader, default_collate
from .sampler import BatchSampler, DistributedSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["BatchSampler", "DataLoader", "Dataset", "DistributedSampler", "RandomSampler", "Sampler",
           "SequentialSampler", "TensorDataset", "default_collate"]
