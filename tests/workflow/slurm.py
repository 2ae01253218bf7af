"""A SLURM on this machine while a test needs it, with one node or several simulated ones.

python -m tests.workflow.slurm    checks whether it can really be started
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

DAEMONS = ("munged", "slurmctld", "slurmd")
# Memory is enforced by counting (PSS), because control groups belong to the machine, and only every
# five seconds, because each count takes milliseconds for each process.
# Jobs read this path in any environment, because the plug-in removes SLURM's variables from it.
SYSTEM_CONFIG = Path("/etc/slurm/slurm.conf")
CONFIG = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=5
JobAcctGatherParams=UsePss,OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
MinJobAge=3600
KillWait=2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = """
NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={cpus}
 RealMemory={memory} State=UNKNOWN
"""
MEMORY = 32_000  # MB that each node reports; only the request of a job is enforced
# A single machine has no accounts, and may be polled often.
PROFILE = (
    *("--profile", "profiles/slurm", "--slurm-no-account", "--latency-wait", "10"),
    *("--seconds-between-status-checks", "1", "--slurm-init-seconds-before-status-checks", "1"),
    *("--default-resources", "slurm_partition=main", "mem_mb=200", "runtime=10"),
)


def why_not():
    """Return why no such cluster can be started here, or "" if it can."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    lacking = [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=path) is None]
    if lacking:
        return f"{', '.join(lacking)} not installed (Debian: slurmctld slurmd slurm-client munge)"
    if os.geteuid() != 0:
        return "only root can start SLURM's daemons"
    if SYSTEM_CONFIG.exists() and not _is_abandoned(SYSTEM_CONFIG):
        return f"{SYSTEM_CONFIG} exists: this machine has a SLURM of its own"
    return ""


def _is_abandoned(config):
    """Return whether a killed test left a configuration: a link into a folder without daemons."""
    if not config.is_symlink() or "ClusterName=test\n" not in config.read_text():
        return False
    return not any(map(_is_daemon, _pids_in(config.resolve().parent)))


def _is_daemon(pid):
    """Return whether a process is one of SLURM's daemons; a reboot gives ids to other processes."""
    try:
        process = psutil.Process(pid)
        return process.name() in DAEMONS and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _pids_in(folder):
    """Return the ids of the daemons of a folder, the last started first."""
    files = [*sorted(folder.glob("slurmd-*.pid")), *folder.glob("slurmctld.pid")]
    texts = [path.read_text().strip() for path in (*files, *folder.glob("munged.pid"))]
    return [int(text) for text in texts if text]


def _processes_of(config):
    """Return the processes whose environment names a configuration."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("SLURM_CONF") == str(config):
                found.append(process)
    return found


def _free_ports(n_ports):
    sockets = [socket.socket() for _ in range(n_ports)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Cluster:
    """A cluster in a folder, used as a context.

    Parameters
    ----------
    folder : path-like
        Folder, which is created.
    n_nodes : int, default=1
        Number of nodes, each a daemon on this machine.
    cpus : int, default=4
        CPUs of each node, whatever the machine has.
    """

    def __init__(self, folder, n_nodes=1, cpus=4):
        self.folder = Path(folder)
        self.nodes = [f"node{number}" for number in range(n_nodes)]
        self.cpus = cpus
        self.config = self.folder / "slurm.conf"
        self.environment = {
            "SLURM_CONF": str(self.config),
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
        }

    def __enter__(self):
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        self.config.write_text(self._configuration())
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        SYSTEM_CONFIG.parent.mkdir(exist_ok=True)
        SYSTEM_CONFIG.unlink(missing_ok=True)
        SYSTEM_CONFIG.symlink_to(self.config)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _configuration(self):
        first, *ports = _free_ports(1 + len(self.nodes))
        nodes = [
            NODE.replace("\n ", " ").format(name=name, port=port, cpus=self.cpus, memory=MEMORY)
            for name, port in zip(self.nodes, ports, strict=True)
        ]
        head, partition = CONFIG.rsplit("PartitionName", 1)
        content = "".join([head.format(folder=self.folder, port=first), *nodes])
        return f"{content}PartitionName{partition}"

    def _start(self):
        own = {name: self.folder / f"munge.{name}" for name in ("key", "socket", "log", "seed")}
        pid = self.folder / "munged.pid"
        self.run(
            "munged", "--force", f"--pid-file={pid}", f"--key-file={own['key']}",
            f"--socket={own['socket']}", f"--log-file={own['log']}", f"--seed-file={own['seed']}",
        )  # fmt: skip
        self.run("slurmctld", "-c")
        for node in self.nodes:
            self.run("slurmd", "-N", node)
        self.wait_for(lambda: self.run("sinfo", "-h", "-o", "%T").split() == ["idle"], 60)

    def run(self, *command):
        """Run a SLURM command and return its output."""
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
        """Return {number: state} of all jobs, including ended ones."""
        lines = self.run("squeue", "-h", "-t", "all", "-o", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    @staticmethod
    def wait_for(condition, seconds):
        """Wait until a condition holds, or raise an error if it does not in time."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{condition} did not come true in {seconds} s"
            time.sleep(0.3)

    def is_busy(self):
        """Return whether any job waits or runs."""
        return bool(self.run("squeue", "-h").strip())

    def __exit__(self, *_):
        try:
            if _pids_in(self.folder):
                self.run("scancel", "--user=root")
        finally:
            SYSTEM_CONFIG.unlink()
            self._stop()

    def _stop(self):
        daemons = [psutil.Process(pid) for pid in _pids_in(self.folder) if psutil.pid_exists(pid)]
        for daemon in daemons:
            with suppress(psutil.NoSuchProcess):
                daemon.send_signal(signal.SIGTERM)
        for daemon in psutil.wait_procs(daemons, timeout=20)[1]:
            daemon.kill()
        # Nothing else ends the processes of a lost node.
        for left in _processes_of(self.config):
            with suppress(psutil.NoSuchProcess):
                left.kill()


if __name__ == "__main__":  # for .ci/slurm: checks whether it can be started
    if why_not():
        sys.exit(why_not())
    with tempfile.TemporaryDirectory() as scratch, Cluster(Path(scratch) / "slurm"):
        pass
