from pathlib import Path

from budgetbench.report.paper_studies import write_reproduction
from budgetbench.study.jobs import job_log

with job_log(snakemake.log[0]):
    write_reproduction(Path(snakemake.scriptdir).resolve().parents[1])
