from budgetbench.study.server import leave_to_server

leave_to_server()

from budgetbench.report.data_page import write_data_page
from budgetbench.study.jobs import job_log
from budgetbench.study.study import Study

with job_log(snakemake.log[0]):
    study = Study.of_job(snakemake, snakemake.output[0])
    write_data_page(study, snakemake.input.data, snakemake.output[0])
