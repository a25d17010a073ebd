"""Observe a run: a timeline of all ranks, predictions for more ranks, logs of metrics.

Read first: timeline/ring_files.py, prediction/simulate.py, logs/logger.py.
"""
