"""Prediction under a budget: from raw data to a report that compares methods.

snakemake --cores 2                                          run the default study
snakemake --cores 2 --configfile config/studies/msb.yaml     run another study
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


# Right even if another workflow uses this one as a module and Snakemake runs in its folder.
ROOT = os.path.abspath(workflow.current_basedir.path)
os.environ.update(BUDGETLEARN_FOLDER=ROOT)  # read by environment.post-deploy.sh
config.update(with_defaults(config, ROOT))


report: "workflow/report/workflow.rst"


# Refuse repeated keys, of which Snakemake would silently use the last one.
for path in workflow.configfiles:
    read_yaml(path)

# The user's classes are in the folder `methods_path` or beside the Snakefile.
for folder in filter(None, (config["methods_path"], ROOT, workflow.basedir)):
    find_classes_in(folder)
STUDY = Study.from_config(config, ROOT)
config.update(STUDY.config)  # with typed values of --config, for scripts and captions
DIR = STUDY.folder  # without the prefix that a module may add to all paths of its rules
PLACE = workflow.modifier.path_modifier.replace_prefix(DIR)
main = workflow.is_main_process  # the process that plans, not one that runs a job
if main:
    STUDY.check_tables()
announce_caller(submitted=workflow.remote_exec)
serve_from_here()
leave_before_preamble(os.path.join(ROOT, "workflow"))


resource_scopes:
    slot="local",


if workflow.remote_exec:
    # A submission has CPUs for one of its jobs at a time (see profiles/slurm).
    workflow.register_resource("slot", 1)


include: "workflow/rules/common.smk"


POINTS = there(STUDY.points_files)
if not POINTS:
    raise WorkflowError(f"strict=false reports the points in {DIR}/points, which has none yet.")
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
        # All outputs, so that the page is made again if only a new figure is missing.
        rules.report.output,
    localrule: True


onstart:
    announce_caller(retries=workflow.execution_settings.retries)  # not known earlier
    # The limit on jobs per second makes Snakemake check all waiting jobs once a second, and again
    # for every finished job, which takes a whole core after some hundred jobs.
    workflow.scheduler.job_rate_limiter = None
    # The rules that fit are those with a benchmark.
    timed = [job for job in workflow.dag.needrun_jobs() if job.rule.benchmark]
    fits = {job.jobid: (job.rule.name, job.wildcards.method) for job in timed}
    logger.addFilter(Progress(fits, logger.info))


onsuccess:
    forget(STUDY)
    if closing_message(STUDY, place_of):
        raise WorkflowError(closing_message(STUDY, place_of))


onerror:
    print(closing_message(STUDY, place_of), file=sys.stderr)
