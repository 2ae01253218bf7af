from budgetbench.study.jobs import job_log
from budgetbench.study.stored_results import check_rerun
from budgetbench.study.study import Study

with job_log(snakemake.log[0]) as log:
    study = Study.of_job(snakemake, snakemake.input.fresh)
    found = check_rerun(study, snakemake.input.fresh, snakemake.input.stored)
    log.info(found)
    print(found)
