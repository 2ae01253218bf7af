"""Snakemake as forks of a process that has imported it, which halves the time of a short call.

A cluster calls a client instead of Python. The client sends its arguments, folder, environment and
streams to a server, which makes a fork for it. The client ends as the fork does.
"""

import json
import os
import shlex
import signal
import socket
import sys
import threading
import warnings
from contextlib import contextmanager

from budgetbench.study import isolation
from tests.workflow.conftest import forget_warnings, run_here, start_server, warm_up

CLIENT = r"""
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
socket.send_fds(server, [b"."], [0, 1, 2])
call = [sys.argv[2:], os.getcwd(), dict(os.environ)]
server.sendall(json.dumps(call).encode() + b"\n")
sys.exit(int(server.makefile().readline() or 1))
"""


@contextmanager
def served(folder, prepare, before=lambda words, arguments: None):
    """Yield the words to call instead of Python with ``-m snakemake`` while the context lasts.

    Each call is a fork of one process, in which `prepare` was called with these words. The fork
    calls `before` with the words and its arguments.
    """
    warm_up()
    start_server()
    client, address = folder / "client.py", str(folder / "server")
    client.write_text(CLIENT)
    words = shlex.join([sys.executable, "-I", "-S", str(client), address])
    with socket.socket(socket.AF_UNIX) as listener, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks, in Python 3.12
        listener.bind(address)
        listener.listen()
        tests = os.getpid()
        server = os.fork()
        if not server:
            isolation.die_with_parent(tests)
            _serve(listener, words, prepare, before)
    try:
        yield words
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)


def _serve(listener, words, prepare, before):
    try:
        forget_warnings()
        prepare(words)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks are not waited for
        while True:
            connection, _ = listener.accept()
            if not os.fork():
                _attend(connection, lambda arguments: before(words, arguments))
            connection.close()
    finally:
        os._exit(1)


def _attend(connection, before):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    streams = socket.recv_fds(connection, 1, 3)[1]
    arguments, folder, environment = json.loads(connection.makefile().readline())
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    arguments = arguments[2:]  # after -m snakemake
    code = run_here(folder, lambda: before(arguments), arguments)
    connection.sendall(f"{code}\n".encode())
    os._exit(code)


def _end_with(connection):
    """End this fork and its jobs when its client ends: the cluster may have ended the client."""
    connection.recv(1)
    os.killpg(0, signal.SIGKILL)
