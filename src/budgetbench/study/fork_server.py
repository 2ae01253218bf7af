"""A server with everything imported, which forks itself for each job of one call of Snakemake.

It saves two seconds of imports, more than half of a short job. The server is a fork of Snakemake
itself and ends with it. Without a server (on other systems than Linux, or if it was killed), a job
does its work itself, with the same result.

Snakemake forks the server (`serve_from_here`), and starts each job as a process of its own, which
connects to the server before its imports (`leave_to_server`). The server forks a tender for the job
(`_tend`), and the tender a worker (`_work`), which runs the job's script. If the job ends early,
the tender kills the worker. If a process above them ends, so do both.
"""

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import weakref
import zlib
from contextlib import suppress
from functools import cache

CALLER = "BUDGETLEARN_CALLER"
LEAVE = "from budgetbench.study.fork_server import leave_to_server\nleave_to_server()\n"
_SERVED = "BUDGETLEARN_SERVED"
# Imports of a study's jobs, which the server makes once.
_IMPORTS = (
    *("budgetbench.study.jobs", "budgetbench.study.model_sequences"),
    *("lightgbm", "pyarrow.dataset", "sklearn.ensemble", "sklearn.linear_model"),
    "snakemake.script",
    *(f"budgetlearn.{room}" for room in ("budgetrf", "cascade", "forests", "gif", "msb", "peers")),
)


def leave_to_server():
    """Let the server run this script and exit with its exit code; return if there is no server."""
    caller = os.environ.get(CALLER)
    if sys.platform != "linux" or caller is None or os.environ.pop(_SERVED, None):
        return
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(_address(caller))
    except OSError:
        return
    if not _is_ours(connection):
        return
    job = {"script": os.path.abspath(sys.argv[0]), "folder": os.getcwd(), "path": sys.path}
    # The job goes out as one line, along with stdout and stderr; its exit code comes back as one.
    message = json.dumps({**job, "environment": dict(os.environ)}).encode()
    socket.send_fds(connection, [b"\n"], [1, 2])
    connection.sendall(message + b"\n")
    sys.exit(int(connection.makefile().readline() or 1))


def leave_before_preamble(folder):
    """Let scripts in a folder call the server before Snakemake's preamble, which imports a lot."""
    script = importlib.import_module("snakemake.script").PythonScript
    preamble = script.generate_preamble

    def leaving(path, *arguments, **named):
        first = path.get_path_or_uri(secret_free=True).startswith(folder)
        return LEAVE * first + preamble(path, *arguments, **named)

    script.generate_preamble = staticmethod(leaving)


def _address(caller):
    """Return the server's abstract socket (no file), unique to user, call, Python and code."""
    code = zlib.crc32(f"{sys.executable} {os.path.dirname(__file__)}".encode())
    return f"\0budgetlearn-{os.getuid()}-{caller}-{code:08x}"


def _is_ours(connection):
    """Return True if the other end belongs to this user; an abstract socket has no owner."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return struct.unpack("3i", credentials)[1] == os.getuid()


def serve_from_here():
    """Fork a server from this process, for the jobs that this process is going to start."""
    caller = os.getpid()
    if sys.platform != "linux" or os.fork():
        return
    try:
        os.setsid()  # so that Ctrl-C does not reach it
        # Not closed: when this process's objects are collected, they would close a job's files.
        nothing = os.open(os.devnull, os.O_RDWR)
        for place in map(int, os.listdir("/proc/self/fd")):
            os.dup2(nothing, place)
        for finalizer in [*weakref.finalize._registry]:
            finalizer.atexit = False  # a job must not remove Snakemake's temporary folders
        serve(str(caller))
    finally:
        os._exit(0)


def serve(caller):
    """Answer the jobs of a caller (its process id) until it has ended."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(_address(caller))
    except OSError:
        return  # the name is taken: another server is running
    gone = os.pidfd_open(int(caller))
    listener.listen(64)
    while gone not in select.select([listener, gone], [], [])[0]:
        _warm_up()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks, so no zombies
        (connection, _), server = listener.accept(), os.getpid()
        if not os.fork():
            listener.close()
            _tend(connection, server)
        connection.close()


@cache
def _warm_up():
    """Do, at the first job, what every job would repeat; a dry run has no jobs and skips it."""
    for name in _IMPORTS:
        with suppress(Exception):  # if a package is missing, the method that needs it fails
            importlib.import_module(name)
    importlib.import_module("budgetbench.study.provenance").origin()  # slow and cached
    # The first check of any table looks for plug-ins among all installed packages.
    importlib.import_module("sklearn.dummy").DummyClassifier().fit([[0]], [0])
    gc.freeze()  # so that garbage collection does not copy the memory that forks share


def _tend(connection, server):
    """Do the work of a calling job in a fork, and send the exit code to the job."""
    isolation = importlib.import_module("budgetbench.study.isolation")
    isolation.die_with_parent(server)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    own = os.getpid()
    with isolation.ending_orphans():  # of a run that is killed with the job
        if not (worker := os.fork()):
            isolation.die_with_parent(own)
            os.setpgid(0, 0)
            _work(connection)
        ended, events = os.pidfd_open(worker), select.poll()
        # A job sends nothing after its first line, so the only event of its connection is its end.
        events.register(connection, select.POLLRDHUP)
        events.register(ended, select.POLLIN)
        events.poll()
        signal.pidfd_send_signal(ended, signal.SIGKILL)  # a job that has ended takes its work along
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    with suppress(OSError):  # the job may be gone
        connection.sendall(f"{code if code >= 0 else 128 - code}\n".encode())  # as shells do
    os._exit(0)


def _work(connection):
    """Take the place of the job: run its script as its own process would, with its exit code."""
    _, output, *_ = socket.recv_fds(connection, 1, 2)
    if len(output) < 2 or not _is_ours(connection):
        os._exit(1)
    job = json.loads(connection.makefile().readline())
    for place, descriptor in enumerate(output, start=1):
        os.dup2(descriptor, place)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    del os.environ[CALLER]  # not needed: the server ends this process with the caller and the job
    os.environ[_SERVED] = "1"
    sys.path[:], sys.argv[:] = job["path"], [job["script"]]
    code = 0
    try:
        importlib.import_module("runpy").run_path(job["script"], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        importlib.import_module("traceback").print_exc()
        code = 1
    # A regular exit would spend half a second on tearing down the imported modules.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
