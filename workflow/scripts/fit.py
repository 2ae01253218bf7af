from budgetbench.study import job_traces
from budgetbench.study.experiment import resumable_run, with_seconds
from budgetbench.study.jobs import job_log, limits_of, load_runs, write_points
from budgetbench.study.provenance import sources_of_run

method, params = snakemake.wildcards.method, snakemake.params
with job_log(snakemake.log[0], snakemake.threads):
    if not job_traces.take_over(snakemake):
        rows, kept = [], (params.subsets, params.code, snakemake.threads)
        for run in load_runs(snakemake.input, snakemake.wildcards, params.seed):
            spec = with_seconds(params.spec, run.number, snakemake.input.seconds)
            rows += resumable_run(method, spec, run, *kept, **limits_of(snakemake))
            sources = sources_of_run(method, params.spec, run)
        write_points(rows, snakemake, sources)
        job_traces.keep(snakemake)
