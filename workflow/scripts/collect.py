from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log

files = snakemake.input
with job_log(snakemake.log[0]):
    made = records.origins_of(files), records.sources_of(files)
    records.write(records.read(files), snakemake.output[0], *made)
