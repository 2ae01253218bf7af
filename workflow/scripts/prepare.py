from budgetbench.datasets.fetching import fetch
from budgetbench.datasets.preparing import prepare
from budgetbench.datasets.registry import DatasetSpec
from budgetbench.study.jobs import job_log

spec, config = DatasetSpec.from_plain(snakemake.params.spec), snakemake.config
with job_log(snakemake.log[0]):
    # Fetches a file again if it was lost or damaged after the rule `fetch`.
    fetch(spec, "resources/data", config["data_dir"], config["offline"])
    prepare(spec, "resources/data").save(snakemake.output[0])
