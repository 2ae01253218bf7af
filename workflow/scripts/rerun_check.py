from budgetbench.study.server import leave_to_server

leave_to_server()

from budgetbench.study.jobs import job_log
from budgetbench.study.rerun import check_rerun

with job_log(snakemake.log[0]) as log:
    told = check_rerun(snakemake.input.fresh, snakemake.input.stored)
    log.info(told)
    print(told)
