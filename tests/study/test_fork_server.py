"""Jobs in forks of one warm process: as in a process of their own, and nothing is left of them."""

import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import psutil
import pytest

from budgetbench.study import fork_server
from budgetbench.study.isolation import CALLER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the server is for Linux")


@contextmanager
def serving(caller, **environment):
    """Run a server for a caller, from when it answers."""
    call = f"from budgetbench.study.fork_server import serve; serve('{caller}')"
    with subprocess.Popen([sys.executable, "-c", call], env=os.environ | environment) as server:
        end = time.monotonic() + 60
        with socket.socket(socket.AF_UNIX) as connection:
            while connection.connect_ex(fork_server._address(str(caller))):
                assert time.monotonic() < end
                time.sleep(0.05)
        yield
        server.kill()


@pytest.fixture(scope="module")
def server():
    """A server for the jobs of this process."""
    with serving(os.getpid()):
        yield


@pytest.fixture
def start(tmp_path, server):
    """Return a function that starts a job, for which this process stands for Snakemake."""

    def start_job(text, **environment):
        script = tmp_path / f"job{len(list(tmp_path.iterdir()))}.py"
        script.write_text(fork_server.LEAVE + text)
        shown = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        environ = os.environ | {CALLER: str(os.getpid())} | environment
        return subprocess.Popen([sys.executable, script], cwd=tmp_path, env=environ, **shown)

    return start_job


WHERE = "import os, sys; print(os.getppid(), os.getcwd(), sys.argv, os.environ.get('WORD'))"


def test_a_job_is_in_its_folder_with_its_words_and_its_environment(start, tmp_path):
    job = start(WHERE, WORD="first")
    out, err = job.communicate(timeout=120)
    assert not err
    parent, rest = out.split(" ", 1)
    assert int(parent) not in (os.getpid(), job.pid)  # it was served
    assert rest == f"{tmp_path} {[str(tmp_path / 'job0.py')]} first\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("raise SystemExit(7)", 7, ""),
        ("raise ValueError('no such thing')", 1, "ValueError: no such thing"),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
    ],
)
def test_how_a_job_ends_is_how_it_ends_for_its_caller(start, text, code, said):
    job = start(text)
    _, err = job.communicate(timeout=120)
    assert job.returncode == code
    assert said in err


def test_jobs_do_not_share_what_they_change(start):
    change = "import os, numpy; os.environ['LEFT'] = '1'; numpy.left = 1; print('changed')"
    look = "import os, numpy; print('LEFT' in os.environ, hasattr(numpy, 'left'))"
    assert start(change).communicate(timeout=120)[0] == "changed\n"
    assert start(look).communicate(timeout=120)[0] == "False False\n"


def test_a_job_that_is_killed_takes_its_fork_along(start, tmp_path):
    job = start(
        "import os, subprocess, time\n"
        "other = subprocess.Popen(['sleep', '600'], start_new_session=True).pid\n"
        "open('pid', 'w').write(f'{os.getpid()} {other} ')\n"
        "time.sleep(600)"
    )
    end = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith(" "):
        assert time.monotonic() < end
        time.sleep(0.05)
    worker, other = map(psutil.Process, map(int, (tmp_path / "pid").read_text().split()))
    job.send_signal(signal.SIGKILL)
    job.wait()
    worker.wait(timeout=10)  # before the job's pipes, which it holds, are read to their end
    other.wait(timeout=10)
    job.communicate()


def test_the_server_ends_with_its_caller(tmp_path):
    (tmp_path / "job.py").write_text(
        fork_server.LEAVE + "import os, psutil; print(psutil.Process().parents()[1].pid)"
    )
    calls = (
        "import os, subprocess, sys\n"
        "from budgetbench.study.fork_server import serve_from_here\n"
        f"os.environ[{CALLER!r}] = str(os.getpid())\n"
        "serve_from_here()\n"
        f"subprocess.run([sys.executable, {str(tmp_path / 'job.py')!r}], check=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", calls], capture_output=True, text=True, check=True)
    server = int(done.stdout)
    end = time.monotonic() + 30
    while psutil.pid_exists(server) and psutil.Process(server).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_job_and_its_caller_leave_each_other_their_folders_and_files(tmp_path):
    """Snakemake copies scripts into one: while a job's end removed it, the next could not start."""
    (tmp_path / "job.py").write_text(
        fork_server.LEAVE
        + "import os, sys, tempfile; kept = tempfile.TemporaryDirectory(); print(kept.name)\n"
        "ends = [end for _ in range(20) for end in os.pipe()]\n"
        "del sys.files_of_caller\n"  # which closes their numbers
        "[os.fstat(end) for end in ends]"
    )
    calls = (
        "import os, subprocess, sys, tempfile\n"
        "from budgetbench.study.fork_server import serve_from_here\n"
        "own = tempfile.TemporaryDirectory()\n"
        "sys.files_of_caller = [open(os.devnull) for _ in range(20)]\n"
        f"os.environ[{CALLER!r}] = str(os.getpid())\n"
        "serve_from_here()\n"
        f"subprocess.run([sys.executable, {str(tmp_path / 'job.py')!r}], check=True)\n"
        "print(os.path.isdir(own.name))\n"
    )
    done = subprocess.run([sys.executable, "-c", calls], capture_output=True, text=True, check=True)
    of_job, is_left = done.stdout.splitlines()
    assert is_left == "True"
    assert not os.path.exists(of_job)  # its own it removes


def test_a_job_without_a_caller_does_its_work_itself(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(fork_server.LEAVE + "import os; print(os.getppid())")
    environ = {name: value for name, value in os.environ.items() if name != CALLER}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, env=environ
    )
    assert int(done.stdout) == os.getpid()


def test_what_a_server_cannot_import_is_the_affair_of_the_job_that_needs_it(start, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "lightgbm.py").write_text("raise ImportError('no such library')")
    with subprocess.Popen(["sleep", "120"]) as caller:
        named = {CALLER: str(caller.pid), "PYTHONPATH": str(broken)}
        with serving(caller.pid, PYTHONPATH=str(broken)):
            job, other = start(WHERE, **named), start("import lightgbm", **named)
            out, err = job.communicate(timeout=120)
            assert (job.returncode, err) == (0, "")
            assert int(out.split()[0]) != os.getpid()  # it was served
            assert "no such library" in other.communicate(timeout=120)[1]
        caller.kill()


def test_without_a_server_a_job_does_its_work_itself(start):
    with subprocess.Popen(["sleep", "120"]) as caller:
        job = start(WHERE, **{CALLER: str(caller.pid)})
        out, err = job.communicate(timeout=120)
        caller.kill()
    assert (job.returncode, err) == (0, "")
    assert int(out.split()[0]) == os.getpid()


def test_scripts_of_the_workflow_ask_for_the_server_before_they_import_snakemake(monkeypatch):
    from snakemake.script import PythonScript
    from snakemake.sourcecache import LocalSourceFile

    monkeypatch.setattr(PythonScript, "generate_preamble", lambda path, word: f"preamble {word}")
    fork_server.leave_before_preamble("/here/workflow")
    ours, other = LocalSourceFile("/here/workflow/scripts/fit.py"), LocalSourceFile("/there/fit.py")
    assert PythonScript.generate_preamble(ours, "1") == fork_server.LEAVE + "preamble 1"
    assert PythonScript.generate_preamble(other, "2") == "preamble 2"


def test_what_the_server_imports_is_there():
    for name in fork_server._IMPORTS:
        importlib.import_module(name)
