from budgetbench.study.fork_server import leave_to_server

leave_to_server()

from budgetbench.study.jobs import job_log
from budgetbench.study.stored_results import pack
from budgetbench.study.study import Study

path = snakemake.output[0]
with job_log(snakemake.log[0]) as log:
    n_files = pack(Study.of_job(snakemake, snakemake.input.points), path)
    print(f"{path}: {n_files} files, {snakemake.input.page} among them")
