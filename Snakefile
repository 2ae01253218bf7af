"""Prediction under a budget: from raw data to one comparison report.

snakemake --cores 2                                          the default study
snakemake --cores 2 --configfile config/studies/msb.yaml     another one
"""

from budgetlearn._files import read_yaml
from budgetlearn.benchmark.inside import importance_files, inside_figures, visited_files
from budgetlearn.benchmark.provenance import fit_fingerprint, source_fingerprint
from budgetlearn.benchmark.study import ACQUISITION, FIT, MEMORY, SCHEDULE, Study
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


# Snakemake takes the last of two equal keys without a word; this refuses them.
for path in workflow.configfiles:
    read_yaml(path)

STUDY = Study.from_config(config, workflow.basedir)
config.update(STUDY.config)  # with what came from the default study, for the captions of the report
DIR = STUDY.folder
# Editing package code reruns the jobs that it may touch; fits have a fingerprint for each method.
CODE = {
    "data": source_fingerprint(
        "datasets", "_files.py", "costs.py", "exceptions.py", "_validation.py", "benchmark/runs.py"
    ),
    "report": source_fingerprint(),
}

# Table or figure of the report → its caption in workflow/report, or its label.
REPORT_TABLES = {"times": "time_table", "coverage": "coverage"}
TIME_FIGURES = {"times": "by method and data set", "growth": "over rows"}
AREA_FIGURES = {}
if STUDY.cases_under(ACQUISITION):
    REPORT_TABLES |= {
        "summary": "summary",
        "ranks": "ranks",
        "leads": "leads",
        "controls": "controls",
        "recommendations": "recommendations",
        "acquisition": "acquisition_table",
    }
    AREA_FIGURES = {"ranks": "mean ranks", "areas": "areas under the Pareto"}
if "own_cost" in STUDY.config:
    REPORT_TABLES["own_cost"] = "inside"
if STUDY.cases_under(MEMORY):
    REPORT_TABLES["memory"] = "memory"
if STUDY.published:
    REPORT_TABLES["published"] = "published"


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
