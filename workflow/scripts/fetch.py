from budgetlearn.benchmark.job import job_log
from budgetlearn.datasets import fetch, write_manifest

params = snakemake.params
with job_log(snakemake.log[0]):
    paths = fetch(params.spec, "resources/data", params.data_dir, params.offline)
    write_manifest(params.spec, paths, snakemake.output.manifest)
