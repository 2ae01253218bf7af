from pathlib import Path

from budgetlearn.benchmark.job import job_log
from budgetlearn.benchmark.study import Study
from budgetlearn.report.data_page import write_data_page

root = Path(snakemake.scriptdir).resolve().parents[1]
with job_log(snakemake.log[0]):
    study = Study.from_config(snakemake.config, root)
    write_data_page(study, snakemake.input.data, snakemake.output[0])
