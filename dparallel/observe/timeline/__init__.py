"""One timeline of all ranks: what each did when, who waited for whom, and why.

Read first: recording.py, which writes; then run.py, phases.py, blame.py and report.py, which read.
"""

from .recording import timeline

__all__ = ["timeline"]
