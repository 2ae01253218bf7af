"""A process that has imported everything, of which all jobs of one call of Snakemake are forks.

Two seconds of imports would be more than half of a short job. The server is a fork of Snakemake
itself and ends with it. Without a server (not Linux, or it was killed) a job does its work itself,
with the same result.
"""

import atexit
import gc
import hashlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import traceback
import weakref
from contextlib import suppress
from functools import cache

CALLER = "BUDGETLEARN_CALLER"
LEAVE = "from budgetbench.study.fork_server import leave_to_server\nleave_to_server()\n"
_SERVED = "BUDGETLEARN_SERVED"
# What the jobs of a study import; the server does it once.
_IMPORTS = (
    *("budgetbench.study.jobs", "budgetbench.study.model_sequences"),
    *("lightgbm", "pyarrow.dataset", "sklearn.ensemble", "sklearn.linear_model"),
    "snakemake.script",
    *(f"budgetlearn.{room}" for room in ("budgetrf", "cascade", "forests", "gif", "msb", "peers")),
)


def leave_to_server():
    """Let the server run this script, and end with its exit code; return if there is no server."""
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
    # A line each way: the job, with its output and errors to write to, and its exit code.
    message = json.dumps({**job, "environment": dict(os.environ)}).encode()
    socket.send_fds(connection, [b"\n"], [1, 2])
    connection.sendall(message + b"\n")
    sys.exit(int(connection.makefile().readline() or 1))


def leave_before_preamble(folder):
    """Let scripts in a folder ask for the server before Snakemake's preamble, which imports it."""
    script = importlib.import_module("snakemake.script").PythonScript
    preamble = script.generate_preamble

    def leaving(path, *arguments, **named):
        first = path.get_path_or_uri(secret_free=True).startswith(folder)
        return LEAVE * first + preamble(path, *arguments, **named)

    script.generate_preamble = staticmethod(leaving)


def _address(caller):
    """Return the server's name: a socket without a file, of this user, call and interpreter."""
    of = hashlib.sha256(f"{sys.executable} {os.path.dirname(__file__)}".encode()).hexdigest()[:16]
    return f"\0budgetlearn-{os.getuid()}-{caller}-{of}"


def _is_ours(connection):
    """Return True if the other end belongs to this user: a socket without a file has no owner."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return struct.unpack("3i", credentials)[1] == os.getuid()


def serve_from_here():
    """Start a server, as a fork of this process, for the jobs that it is going to start."""
    caller = os.getpid()
    if sys.platform != "linux" or os.fork():
        return
    try:
        os.setsid()  # Ctrl-C is not for it
        nothing = os.open(os.devnull, os.O_RDWR)
        for place in range(3):
            os.dup2(nothing, place)
        os.closerange(3, max(map(int, os.listdir("/proc/self/fd"))) + 1)  # locks among them
        for finalizer in [*weakref.finalize._registry]:
            finalizer.atexit = False  # temporary folders of Snakemake are not a job's to remove
        serve(str(caller))
    finally:
        os._exit(0)


def serve(caller):
    """Answer the jobs of a caller, a process id, until it is gone."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(_address(caller))
    except OSError:
        return  # another was first
    gone = os.pidfd_open(int(caller))
    listener.listen(64)
    while gone not in select.select([listener, gone], [], [])[0]:
        _warm_up()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a fork from here on ended
        (connection, _), server = listener.accept(), os.getpid()
        if not os.fork():
            listener.close()
            _tend(connection, server)
        connection.close()


@cache
def _warm_up():
    """Do what each job would do again; when the first one calls, as a look at a plan has none."""
    for name in _IMPORTS:
        with suppress(Exception):  # a method that needs it says so
            importlib.import_module(name)
    importlib.import_module("budgetbench.study.provenance").origin()  # paths of pools among it
    # The first check of any table looks for plug-ins among all installed packages.
    importlib.import_module("sklearn.dummy").DummyClassifier().fit([[0]], [0])
    gc.freeze()  # what was imported is never garbage: a fork need not copy it to find that out


def _tend(connection, server):
    """Do the work of the job that calls in a fork, and tell the job how that ended."""
    die_with_parent = importlib.import_module("budgetbench.study.isolation").die_with_parent
    die_with_parent(server)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    own, worker = os.getpid(), os.fork()
    if not worker:
        die_with_parent(own)
        os.setpgid(0, 0)
        _work(connection)
    ended, events = os.pidfd_open(worker), select.poll()
    # A job says no more after its first line; all there is to hear of is its end.
    events.register(connection, select.POLLRDHUP)
    events.register(ended, select.POLLIN)
    events.poll()
    signal.pidfd_send_signal(ended, signal.SIGKILL)  # a job that is gone takes the work along
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    with suppress(OSError):  # it did not wait for that
        connection.sendall(f"{code if code >= 0 else 128 - code}\n".encode())  # as shells do
    os._exit(0)


def _work(connection):
    """Be the job: run its script as a process of its own would, and end as that would."""
    _, output, *_ = socket.recv_fds(connection, 1, 2)
    if len(output) < 2 or not _is_ours(connection):
        os._exit(1)
    job = json.loads(connection.makefile().readline())
    for place, descriptor in enumerate(output, start=1):
        os.dup2(descriptor, place)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    del os.environ[CALLER]  # the server looks after that, and after the job that waits
    os.environ[_SERVED] = "1"
    sys.path[:], sys.argv[:] = job["path"], [job["script"]]
    code = 0
    try:
        runpy.run_path(job["script"], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    # An interpreter that takes down all that was imported needs half a second for it.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
