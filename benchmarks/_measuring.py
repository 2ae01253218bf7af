"""Shared by the scripts: the folder of raw data, the least time of repeats, a line of output."""

import os
import time
from pathlib import Path

DATA = Path(os.environ.get("BUDGETLEARN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def least(action, repeats=1, clock=time.process_time):
    """Return the least seconds of several calls, and the last result."""
    seconds = []
    for _ in range(repeats):
        start = clock()
        result = action()
        seconds.append(clock() - start)
    return min(seconds), result


def report(name, ours, peer):
    """Print one line: our time, the peer's, and the ratio."""
    print(f"{name}: ours {ours:.3f} s, peer {peer:.3f} s, ratio {peer / ours:.1f}", flush=True)
