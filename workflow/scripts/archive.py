from budgetlearn.benchmark.archive import pack
from budgetlearn.benchmark.job import job_log
from budgetlearn.benchmark.study import Study

root, path = snakemake.params.root, snakemake.output[0]
with job_log(snakemake.log[0]) as log:
    n_files = pack(Study.from_config(snakemake.config, root), root, path)
    print(f"{path}: {n_files} files, {snakemake.input.page} among them")
