from budgetbench.study import records
from budgetbench.study.job_traces import note_failures
from budgetbench.study.jobs import job_log

files = snakemake.input
with job_log(snakemake.log[0]):
    made = records.origins_of(files), records.sources_of(files)
    records.write(records.read(files), snakemake.output[0], *made)
    note_failures(snakemake.config, files)
