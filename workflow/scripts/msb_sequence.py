import pandas as pd

from budgetbench.study import job_traces
from budgetbench.study.jobs import job_log, limits_of, load_runs, write_points
from budgetbench.study.model_sequences import sequence_points
from budgetbench.study.provenance import sources_of_run
from budgetlearn.files import write_whole

wildcards, params = snakemake.wildcards, snakemake.params
with job_log(snakemake.log[0], snakemake.threads):
    if not job_traces.take_over(snakemake):
        how = (pd.read_csv(snakemake.input.importance), snakemake.threads)
        method = (wildcards.method, params.spec, wildcards.sequence)
        rows, visited = [], []
        for run in load_runs(snakemake.input, wildcards, params.seed):
            points, models = sequence_points(*method, run, *how, **limits_of(snakemake))
            rows += points
            visited.append(models)
            sources = sources_of_run(wildcards.method, params.spec, run)
        write_points(rows, snakemake, sources)
        write_whole(snakemake.output.visited, pd.concat(visited).to_csv(index=False))
        job_traces.keep(snakemake)
