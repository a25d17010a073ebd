"""Sums, extremes, products, norms, quantiles, sorting: what goes along dimensions."""
