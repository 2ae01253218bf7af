from pathlib import Path

from budgetbench.study.jobs import job_log
from budgetbench.study.stored_results import keep
from budgetbench.study.study import Study

root = Path(snakemake.scriptdir).resolve().parents[1]
with job_log(snakemake.log[0]):
    print("kept in", keep(Study.of_job(snakemake, snakemake.input[0]), root))
