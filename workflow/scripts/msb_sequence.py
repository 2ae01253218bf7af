import pandas as pd

from budgetlearn.benchmark.job import job_log, load_runs, write_points
from budgetlearn.benchmark.model_sequences import sequence_points

wildcards, params, threads = snakemake.wildcards, snakemake.params, snakemake.threads
with job_log(snakemake.log[0], threads):
    importance = pd.read_csv(snakemake.input.importance)
    method = (wildcards.method, params.spec, wildcards.sequence)
    rows, visited, limit = [], [], snakemake.config["time_limit"]
    for run in load_runs(snakemake.input, wildcards, params.seed):
        points, models = sequence_points(*method, run, importance, threads, limit)
        rows += points
        visited.append(models)
    write_points(rows, snakemake.output.points, params.attempt, snakemake.config)
    pd.concat(visited).to_csv(snakemake.output.visited, index=False)
