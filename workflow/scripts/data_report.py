from budgetbench.study.server import leave_to_server

leave_to_server()

from pathlib import Path

from budgetbench.report.data_page import write_data_page
from budgetbench.study.jobs import job_log
from budgetbench.study.study import Study

root = Path(snakemake.scriptdir).resolve().parents[1]
with job_log(snakemake.log[0]):
    study = Study.from_config(snakemake.config, root)
    write_data_page(study, snakemake.input.data, snakemake.output[0])
