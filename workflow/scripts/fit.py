from budgetlearn.benchmark.job import job_log, load_runs, write_points
from budgetlearn.benchmark.resuming import resumable_run

method, params, config = snakemake.wildcards.method, snakemake.params, snakemake.config
with job_log(snakemake.log[0], snakemake.threads):
    rows = []
    for run in load_runs(snakemake.input, snakemake.wildcards, params.seed):
        kept = (params.subsets, params.code)
        limit = config["time_limit"]
        rows += resumable_run(method, params.spec, run, *kept, snakemake.threads, limit)
    write_points(rows, snakemake.output[0], params.attempt, config)
