from budgetlearn.benchmark.job import job_log
from budgetlearn.datasets import DatasetSpec, fetch, write_manifest

spec, config = DatasetSpec.from_plain(snakemake.params.spec), snakemake.config
with job_log(snakemake.log[0]):
    paths = fetch(spec, "resources/data", config["data_dir"], config["offline"])
    write_manifest(spec, paths, snakemake.output.manifest)
