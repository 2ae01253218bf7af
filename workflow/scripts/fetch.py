from budgetbench.datasets.fetching import fetch, write_manifest
from budgetbench.datasets.registry import DatasetSpec
from budgetbench.study.jobs import job_log

spec, config = DatasetSpec.from_plain(snakemake.params.spec), snakemake.config
with job_log(snakemake.log[0]):
    paths = fetch(spec, "resources/data", config["data_dir"], config["offline"])
    write_manifest(spec, paths, snakemake.output.manifest)
