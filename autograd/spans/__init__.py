"""Spans: when each thread began and ended something. The profiler and the timeline read them.

May import: nothing. Read first: spans.py."""
