"""Prediction under a budget: from raw data to one comparison report.

snakemake --cores 2                                          the default study
snakemake --cores 2 --configfile config/studies/msb.yaml     another one
"""

import os
import sys

from budgetlearn._files import read_yaml
from budgetlearn.benchmark.failures import attempt, last_word
from budgetlearn.benchmark.fingerprints import (
    fit_fingerprint,
    report_fingerprint,
    script_fingerprint,
)
from budgetlearn.benchmark.study import FIT, SCHEDULE, Study
from budgetlearn.report import sections_of
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


# Snakemake takes the last of two equal keys without a word; this refuses them.
for path in workflow.configfiles:
    read_yaml(path)

# A class of the user's own may lie beside this file: found here, and by the jobs.
sys.path.append(workflow.basedir)
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [os.environ.get("PYTHONPATH"), workflow.basedir])
)
STUDY = Study.from_config(config, workflow.basedir)
config.update(STUDY.config)  # with what came from the default study; scripts and captions read it
DIR = STUDY.folder


def script_path(name):
    """The script of a rule."""
    return os.path.join(workflow.basedir, "workflow", "scripts", name)


def code_of(name):
    """Editing package code reruns the jobs whose script leads to it."""
    return script_fingerprint(script_path(name))


def code_for(name):
    """Where a method is fitted, the code of its own classes counts too."""
    return lambda w: fit_fingerprint(script_path(name), STUDY.spec(w.method, w.dataset))


def attempt_at(output):
    """Runs that failed are tried again: one attempt more reruns the job."""
    return lambda w: attempt(config, f"{DIR}/{output}".format(**w))


def there(files):
    """What a study that is not strict makes do with: the files that are there."""
    return files if STUDY.config["strict"] else [file for file in files if os.path.exists(file)]


POINTS = there(STUDY.points_files)
if not POINTS:
    raise WorkflowError(f"strict=false reports what is in {DIR}/points, and nothing is there yet.")
SECTIONS = sections_of(STUDY)


wildcard_constraints:
    dataset="|".join(STUDY.datasets),
    costs="random|unit|given",
    method="|".join(STUDY.methods),
    sequence="[a-z0-9_]+",
    chunk=r"\d+",


localrules:
    all,
    fetch,


include: "workflow/rules/data.smk"
include: "workflow/rules/costs.smk"
include: "workflow/rules/msb.smk"
include: "workflow/rules/comparison.smk"


rule all:
    default_target: True
    input:
        rules.report.output.page,


onsuccess:
    if last_word(STUDY):
        raise WorkflowError(last_word(STUDY))


onerror:
    print(last_word(STUDY), file=sys.stderr)
