"""Prediction under a budget: from raw data to one comparison report.

snakemake --cores 2                                          the default study
snakemake --cores 2 --configfile config/studies/msb.yaml     another one
"""

import os
import sys

from budgetlearn.files import read_yaml
from budgetbench.study.source_code import find_classes_in, report_fingerprint
from budgetbench.study.job_traces import closing_message, forget
from budgetbench.study.fork_server import leave_before_preamble, serve_from_here
from budgetbench.study.isolation import announce_caller
from budgetbench.study.progress import Progress
from budgetbench.study.stored_results import stored_points
from budgetbench.study.study import FIT, SCHEDULE, Study, with_defaults
from budgetbench.report import sections_of
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

min_version("9.17")


# Also where another workflow takes this one as a module, from whose folder Snakemake then runs.
ROOT = os.path.abspath(workflow.current_basedir.path)
os.environ.update(BUDGETLEARN_FOLDER=ROOT)  # read by environment.post-deploy.sh
config.update(with_defaults(config, ROOT))


report: "workflow/report/workflow.rst"


# Snakemake silently takes the last of two equal keys; this refuses them.
for path in workflow.configfiles:
    read_yaml(path)

# Classes of the user's own lie in a folder that the configuration names, or beside this file.
for folder in filter(None, (config["methods_path"], ROOT, workflow.basedir)):
    find_classes_in(folder)
STUDY = Study.from_config(config, ROOT)
config.update(STUDY.config)  # with words from the command line read; scripts and captions see it
DIR = STUDY.folder  # before the prefix that a module may put before all paths of its rules
PLACE = workflow.modifier.path_modifier.replace_prefix(DIR)
main = workflow.is_main_process  # the one that plans, rather than runs a job of a plan
if main:
    STUDY.check_tables()
announce_caller(submitted=workflow.remote_exec)
serve_from_here()
leave_before_preamble(os.path.join(ROOT, "workflow"))


resource_scopes:
    slot="local",


if workflow.remote_exec:
    # What a submission was given CPUs for: one of its jobs at a time (see profiles/slurm).
    workflow.register_resource("slot", 1)


include: "workflow/rules/common.smk"


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


include: "workflow/rules/data.smk"
include: "workflow/rules/costs.smk"
include: "workflow/rules/msb.smk"
include: "workflow/rules/comparison.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/papers.smk"


rule all:
    default_target: True
    input:
        # All of it: a page whose settings ask for another figure is remade only for what is missing.
        rules.report.output,
    localrule: True


onstart:
    announce_caller(retries=workflow.execution_settings.retries)  # known only now
    # To keep to its limit of so many jobs a second, Snakemake looks at all that wait once a second,
    # and once more for every job that has ended: after some hundred jobs that takes a core.
    workflow.scheduler.job_rate_limiter = None
    # Rules with a benchmark are those that fit.
    timed = [job for job in workflow.dag.needrun_jobs() if job.rule.benchmark]
    fits = {job.jobid: (job.rule.name, job.wildcards.method) for job in timed}
    logger.addFilter(Progress(fits, logger.info))


onsuccess:
    forget(STUDY)
    if closing_message(STUDY, place_of):
        raise WorkflowError(closing_message(STUDY, place_of))


onerror:
    print(closing_message(STUDY, place_of), file=sys.stderr)
