"""A child of launch/tie.py gets one signal when its parent has died, however many threads that had."""

import subprocess
import sys
import time

import pytest
from test_dprun import ROOT

CHILD = """
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("ready", flush=True)
while not seen:
    time.sleep(0.01)
time.sleep(0.3)
open(sys.argv[1], "w").write(str(len(seen)))
"""
PARENT = """
import os, subprocess, sys, threading, time
from launch.tie import popen
for _ in range(4):
    threading.Thread(target=time.sleep, args=(300,)).start()
for number in range(12):
    child = popen([sys.executable, "-c", sys.argv[1], f"{sys.argv[2]}/{number}"], 2, stdout=subprocess.PIPE)
    child.stdout.readline()
if os.fork() == 0:                                   # outlives its parent, and would keep the pipe
    print(os.getpid(), flush=True)
    time.sleep(300)
time.sleep(300)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's F_SETSIG")
def test_one_signal_when_the_parent_is_killed(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, CHILD, tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    fork = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait()
        until, said = time.monotonic() + 60, []
        while time.monotonic() < until and "".join(said) != "1" * 12:
            time.sleep(0.05)
            said = [path.read_text() for path in tmp_path.iterdir()]
        assert said == ["1"] * 12
    finally:
        subprocess.run(["kill", "-9", str(fork)])
        parent.stdout.close()
