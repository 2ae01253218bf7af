from budgetlearn.benchmark.job import job_log
from budgetlearn.datasets import prepare

with job_log(snakemake.log[0]):
    prepare(snakemake.params.spec, "resources/data").save(snakemake.output[0])
