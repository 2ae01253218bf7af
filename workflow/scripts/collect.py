from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log

with job_log(snakemake.log[0]):
    records.write(records.read(snakemake.input), snakemake.output[0])
