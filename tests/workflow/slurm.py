"""A SLURM of one node on this machine, for as long as a test needs it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
# Jobs look here whatever the environment says: the plugin takes SLURM's variables out of it.
SYSTEM_CONFIG = Path("/etc/slurm/slurm.conf")
CONFIG = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
MinJobAge=3600
KillWait=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=4 RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Return why no such cluster can be had here; "" if it can."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    lacking = [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=path) is None]
    if lacking:
        return f"{', '.join(lacking)} not installed (Debian: slurmctld slurmd slurm-client munge)"
    if os.geteuid() != 0:
        return "only root can start SLURM's daemons"
    if os.path.lexists(SYSTEM_CONFIG):
        return f"{SYSTEM_CONFIG} exists: this machine has a SLURM of its own"
    return ""


def _free_ports(n_ports):
    sockets = [socket.socket() for _ in range(n_ports)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class OneNode:
    """A cluster that lives in a folder; used as a context."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.config = self.folder / "slurm.conf"
        self.environment = {
            "SLURM_CONF": str(self.config),
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
        }

    def __enter__(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        self.config.write_text(
            CONFIG.format(folder=self.folder, ports=_free_ports(2), memory=memory)
        )
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        SYSTEM_CONFIG.parent.mkdir(exist_ok=True)
        SYSTEM_CONFIG.symlink_to(self.config)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        own = {name: self.folder / f"munge.{name}" for name in ("key", "socket", "log", "seed")}
        pid = self.folder / "munged.pid"
        self.run(
            "munged", "--force", f"--pid-file={pid}", f"--key-file={own['key']}",
            f"--socket={own['socket']}", f"--log-file={own['log']}", f"--seed-file={own['seed']}",
        )  # fmt: skip
        self.run("slurmctld", "-c")
        self.run("slurmd", "-N", "localhost")
        self.wait_for(lambda: self.run("sinfo", "-h", "-o", "%T").strip() == "idle", 30)

    def run(self, *command):
        """Run a command of SLURM's and return what it prints."""
        done = subprocess.run(
            command,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def jobs(self):
        """Return {number: state} of all jobs, ended ones too."""
        lines = self.run("squeue", "-h", "-t", "all", "-o", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    @staticmethod
    def wait_for(condition, seconds):
        """Wait until a condition holds; an error when it does not in time."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{condition} did not come true in {seconds} s"
            time.sleep(0.3)

    def __exit__(self, *_):
        for name in reversed(DAEMONS):
            pid = self.folder / f"{name}.pid"
            if pid.is_file() and pid.read_text().strip():
                try:
                    os.kill(int(pid.read_text()), signal.SIGTERM)
                except ProcessLookupError:
                    continue
        SYSTEM_CONFIG.unlink()


if __name__ == "__main__":  # .ci/slurm asks whether one can really be had
    if why_not():
        sys.exit(why_not())
    with tempfile.TemporaryDirectory() as scratch, OneNode(Path(scratch) / "slurm"):
        pass
