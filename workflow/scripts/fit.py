from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log, load_runs
from budgetlearn.benchmark.resuming import resumable_run

method, params = snakemake.wildcards.method, snakemake.params
with job_log(snakemake.log[0], snakemake.threads):
    rows = []
    for run in load_runs(snakemake.input, snakemake.wildcards, params.seed):
        kept = (params.subsets, params.code)
        rows += resumable_run(method, params.spec, run, *kept, snakemake.threads, params.limit)
    records.write(rows, snakemake.output[0])
