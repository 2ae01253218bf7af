"""All studies of the papers, one after another, and the page of what became of their numbers."""

import json
import subprocess
import sys
from pathlib import Path

from budgetlearn.files import read_yaml, whole_file

from ..study.reruns import keep
from ..study.study import Study
from .reproduction import Reproduction
from .reproduction_pages import PLACE, reproduction_page, reproduction_text

PAGE = "results/papers/report.html"


def run_papers(root, cores, settings):
    """Run every study of the papers and keep what it gives; one that fails stops no other.

    A study goes on where it stopped; runs that it finished are kept even if others failed. `root`
    is the folder of the workflow, `cores` those of each study, and `settings` are laid over every
    study's, such as {"runs": 1}. Returns the studies that ended with an error.
    """
    # One after another: each study uses all cores, and times are only then its own.
    failed = []
    for name in Reproduction(root).studies:
        file = root / "config" / "studies" / f"{name}.yaml"
        print(f"papers: {name}", flush=True)
        if subprocess.run(_command(root, file, cores, settings), check=False).returncode:
            failed.append(name)
        config = read_yaml(root / "config" / "config.yaml") | read_yaml(file) | settings
        # Kept even after an error: a run that is done is worth as much in a study that is not.
        keep(Study.from_config(config, root), root)
    return failed


def _command(root, file, cores, settings):
    """Return the call of the workflow for one study."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", root / "Snakefile"]
    # The caller holds the folder's lock; both write different files.
    command += ["--cores", cores, "--keep-going", "--nolock", "--configfile", file]
    if settings:
        words = (f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in settings.items())
        command += ["--config", *words]
    return list(map(str, command))


def write_reproduction(root, page=PAGE):
    """Write docs/reproduction.md and the page from the reruns that are kept below `root`."""
    found = Reproduction(root)
    for place, text in (
        (Path(root) / PLACE, reproduction_text(found)),
        (Path(page), reproduction_page(found)),
    ):
        with whole_file(place) as partial:
            Path(partial).write_text(text, encoding="utf-8")
