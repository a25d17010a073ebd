"""Spans: the begin and end of activities in each thread, for the profiler and the timeline.

May import: nothing. Read first: spans.py."""
