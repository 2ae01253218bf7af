"""Things that all workers of one test run share, made by the first worker that needs them."""

import fcntl
import os


def made_once(tmp_path_factory, name, make):
    """Return a folder that `make` fills in one worker; nobody may change its content."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    folder, begun = base / f"shared-{name}", base / f"shared-{name}-begun"
    with (base / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            begun.mkdir(exist_ok=True)
            make(begun)
            begun.rename(folder)
    return folder
