"""Histograms, covariances, sets, differences."""
