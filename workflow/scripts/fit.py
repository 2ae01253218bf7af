from budgetlearn.benchmark import records
from budgetlearn.benchmark.experiment import run_method
from budgetlearn.benchmark.job import job_log, load_runs

method, params = snakemake.wildcards.method, snakemake.params
with job_log(snakemake.log[0], snakemake.threads):
    rows = []
    for run in load_runs(snakemake.input, snakemake.wildcards, params.seed):
        rows += run_method(method, params.spec, run, snakemake.threads, params.limit)
    records.write(rows, snakemake.output[0])
