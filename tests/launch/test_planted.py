"""Some of the planted trainings whose timelines must blame the right rank and part; all: python tests/timeline/blame.py."""

import subprocess
import sys
from pathlib import Path

BLAME = Path(__file__).parent.parent / "timeline" / "blame.py"


def test_planted_trainings():
    cases = "1 of 2: script 10 ms", "forward 6, backward 9", "16 rows", "cap=0.001", "link is slow by 10", "optimizer 8 ms of replayed"
    done = subprocess.run([sys.executable, str(BLAME), "--repeat", "8", "--cases", *cases], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0 and "6 of 6 right" in done.stdout, done.stdout + done.stderr
