from budgetbench.study.server import leave_to_server

leave_to_server()

from budgetbench.study.failures import keep_failures
from budgetbench.study.jobs import job_log, limits_of, load_runs
from budgetbench.study.model_sequences import importance_table

params, config, output = snakemake.params, snakemake.config, snakemake.output[0]
method = (snakemake.wildcards.method, params.spec)
with job_log(snakemake.log[0], snakemake.threads):
    runs = load_runs(snakemake.input, snakemake.wildcards, params.seed)
    table = importance_table(*method, runs, snakemake.threads, **limits_of(config))
    table.to_csv(output, index=False)
    keep_failures(config, output, params.attempt, table[["run", "status"]].to_numpy())
