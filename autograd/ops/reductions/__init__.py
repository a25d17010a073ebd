"""Reductions and scans over dimensions: sums, extremes, products, norms, quantiles, sorting, cumulative sums."""
