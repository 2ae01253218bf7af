from budgetlearn.benchmark.job import job_log, load_runs
from budgetlearn.benchmark.model_sequences import importance_table

method, params = snakemake.wildcards.method, snakemake.params
with job_log(snakemake.log[0], snakemake.threads):
    runs = load_runs(snakemake.input, snakemake.wildcards, params.seed)
    table = importance_table(method, params.spec, runs, snakemake.threads)
    table.to_csv(snakemake.output[0], index=False)
