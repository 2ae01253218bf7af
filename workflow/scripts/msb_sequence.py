from budgetbench.study.server import leave_to_server

leave_to_server()

import pandas as pd

from budgetbench.study.jobs import job_log, limits_of, load_runs, write_points
from budgetbench.study.model_sequences import sequence_points
from budgetbench.study.sources import sources_of_run

wildcards, params, config = snakemake.wildcards, snakemake.params, snakemake.config
with job_log(snakemake.log[0], snakemake.threads):
    how = (pd.read_csv(snakemake.input.importance), snakemake.threads)
    method = (wildcards.method, params.spec, wildcards.sequence)
    rows, visited = [], []
    for run in load_runs(snakemake.input, wildcards, params.seed):
        points, models = sequence_points(*method, run, *how, **limits_of(config))
        rows += points
        visited.append(models)
        sources = sources_of_run(wildcards.method, params.spec, run)
    write_points(rows, snakemake.output.points, params.attempt, config, sources)
    pd.concat(visited).to_csv(snakemake.output.visited, index=False)
