"""Look into a run: a timeline of all ranks, what more ranks would bring, logs of metrics.

Read first: timeline/ring_files.py, prediction/simulate.py, logs/logger.py.
"""
