"""Kill a study at random moments, start it again, and compare the results.

python -m tests.workflow.kills                        50 kills on this machine, over the smoke study
python -m tests.workflow.kills --kills 35 --slurm 15  15 more under a SLURM started for it (as root)

Each kill hits the main process or that of a job with one of nine signals, after some seconds of CPU
time, and is repeated while the study runs. Then the same command is given again. `--unlock` is
given only if a message asks for it. The kills are added to kills.csv.
"""

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pandas as pd
import psutil

from budgetbench.study import records
from tests.workflow.conftest import copy_to
from tests.workflow.slurm import PROFILE, Cluster, why_not

SIGNALS = ("TERM", "INT", "HUP", "QUIT", "KILL", "SEGV", "ABRT", "ALRM", "USR1")
CLOCKS = "seconds|_ms$"  # columns of times, which differ from run to run
PATIENCE = 1800  # seconds for a study that was not killed, or to end after a kill
WORK = (1, 25)  # seconds of CPU time before a kill; the smoke study takes about a hundred


def contents(results):
    """Return the contents of a study's files: bytes, or the table without its times."""
    found = {}
    for folder in ("data", "splits", "costs"):
        for path in sorted((results / folder).rglob("*.*")):
            found[str(path.relative_to(results))] = path.read_bytes()
    for path in (results / "points.parquet", *sorted(results.glob("tables/*.csv"))):
        frame = records.read(path) if path.suffix == ".parquet" else pd.read_csv(path)
        if path.stem != "times":
            found[path.name] = frame.loc[:, ~frame.columns.str.contains(CLOCKS)].to_csv()
    return found


def signal_of(name):
    """Return the number of a signal."""
    return getattr(signal, f"SIG{name}")


class Killed:
    """A study in a folder that is killed again and again."""

    def __init__(self, folder, command, rng, environment=None, is_busy=lambda: False):
        self.folder, self.command, self.rng = Path(folder), list(map(str, command)), rng
        self.environment = {**os.environ, **(environment or {})}
        self.is_busy = is_busy
        self.output = self.folder / "output.txt"
        self.rows = []

    def start(self, *more):
        """Start Snakemake."""
        with self.output.open("w") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *self.command, *more],
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def call(self, *more):
        """Run Snakemake undisturbed and return its exit code."""
        return self.start(*more).wait(PATIENCE)

    def processes(self):
        """Return all processes at work in the folder."""
        found = []
        for process in psutil.process_iter(["cwd", "status"]):
            if process.info["cwd"] == str(self.folder) and process.info["status"] != "zombie":
                found.append(process)
        return found

    def kill_some(self, work, most):
        """Start, and kill something after random seconds of CPU time; return the exit code.

        Parameters
        ----------
        work : (float, float)
            Least and most seconds before a kill.
        most : int
            The most kills; after them the study goes on undisturbed.
        """
        main, spent, before = self.start(), {}, len(self.rows)
        due = self.rng.uniform(*work)
        while main.poll() is None:
            time.sleep(0.2)
            for process in self.processes():
                with suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    spent[process.pid] = times.user + times.system
            if sum(spent.values()) > due and len(self.rows) < before + most:
                self._kill_one(main.pid)
                due = sum(spent.values()) + self.rng.uniform(*work)
        return self.after(main.returncode)

    def _kill_one(self, main):
        jobs = [process for process in self.processes() if process.pid != main]
        victim = self.rng.choice(jobs) if jobs and self.rng.random() < 0.6 else psutil.Process(main)
        name = self.rng.choice(SIGNALS)
        row = {"time": time.strftime("%T"), "signal": f"SIG{name}"}
        try:
            words = " ".join(Path(word).name for word in victim.cmdline()[:4])
            row["victim"] = "main" if victim.pid == main else f"job: {words}"
            victim.send_signal(signal_of(name))
        except psutil.NoSuchProcess:
            return  # it had just ended, so this is no kill
        self.rows.append(row)

    def after(self, code):
        """Wait until no process of a call is left, and follow its message."""
        end = time.monotonic() + PATIENCE
        while self.processes() or self.is_busy():
            assert time.monotonic() < end, f"still there: {self.processes()}"
            time.sleep(0.2)
        locked = bool(code) and "--unlock" in self.output.read_text()
        if locked:
            assert not self.call("--unlock")
        for row in self.rows:
            row.update({"exit": code, "unlocked": locked} if "exit" not in row else {})
        return code

    def finish(self, most=4):
        """Repeat the command until it succeeds."""
        for _ in range(most):
            if not self.after(self.call()):
                return
        output = self.output.read_text()[-4000:]
        raise AssertionError(f"it did not end well in {most} calls:\n{output}")

    def begin_anew(self, results):
        """Remove the files that the study has made."""
        subprocess.run(["rm", "-r", "-f", str(results), ".snakemake"], cwd=self.folder, check=True)


def kill_often(killed, results, expected, n_kills, work=WORK, tell=lambda row: None):
    """Kill a study `n_kills` times; whenever it succeeds, compare and begin anew."""
    results = killed.folder / results
    while len(killed.rows) < n_kills:
        before = len(killed.rows)
        code = killed.kill_some(work, n_kills - before)
        for row in killed.rows[before:]:
            tell(row)
        if not code and len(killed.rows) < n_kills:
            compare(contents(results), expected)
            killed.begin_anew(results)
    killed.finish()
    compare(contents(results), expected)


def compare(found, expected):
    """Fail if a file is missing or differs."""
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    different = [name for name in expected if found[name] != expected[name]]
    assert not different, different


def main():
    """Kill the smoke study by the options of the command line."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--kills", type=int, default=50, help="kills on this machine")
    options.add_argument("--slurm", type=int, default=0, help="kills under SLURM, after those")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--rows", default="kills.csv", help="file to which the kills are added")
    asked = options.parse_args()
    if asked.slurm and why_not():
        sys.exit(why_not())
    rows = Path(asked.rows).resolve()
    for name in SIGNALS:  # signals ignored here, as under nohup, would be ignored by all children
        if signal.getsignal(signal_of(name)) is signal.SIG_IGN:
            signal.signal(signal_of(name), signal.SIG_DFL)

    def tell(place):
        def told(row):
            print(row, flush=True)
            with rows.open("a", newline="") as file:
                csv.writer(file).writerow([asked.seed, place, *row.values()])

        return told

    study = ("--configfile", "config/studies/smoke.yaml")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        copy_to(folder)
        killed = Killed(folder, ("--cores", "2", *study), random.Random(asked.seed))
        killed.finish(1)
        expected = contents(folder / "results" / "smoke")
        print(f"{len(expected)} files to compare", flush=True)
        killed.begin_anew(folder / "results" / "smoke")
        how = ("results/smoke", expected)
        kill_often(killed, *how, asked.kills, tell=tell("local"))
        print(f"{asked.kills} kills, seed {asked.seed}: the same files in the end", flush=True)
        if asked.slurm:
            cluster = stack.enter_context(Cluster(folder / "slurm"))
            arguments = (*study, *PROFILE, "--jobs", "4")
            killed.begin_anew(folder / "results" / "smoke")
            killed = Killed(folder, arguments, killed.rng, cluster.environment, cluster.is_busy)
            kill_often(killed, *how, asked.slurm, tell=tell("slurm"))
            print(f"{asked.slurm} more under SLURM: the same files", flush=True)


if __name__ == "__main__":
    main()
