from budgetbench.study import job_traces
from budgetbench.study.jobs import close_job, job_log, limits_of, load_runs
from budgetbench.study.model_sequences import importance_table
from budgetlearn.files import write_whole

params, threads = snakemake.params, snakemake.threads
with job_log(snakemake.log[0], threads):
    if not job_traces.take_over(snakemake):
        runs = load_runs(snakemake.input, snakemake.wildcards, params.seed)
        method = (snakemake.wildcards.method, params.spec)
        table = importance_table(*method, runs, threads, **limits_of(snakemake))
        close_job(snakemake, table[["run", "status"]].to_numpy())
        write_whole(snakemake.output[0], table.to_csv(index=False))
        job_traces.keep(snakemake)
