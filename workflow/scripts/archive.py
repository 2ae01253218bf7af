from budgetbench.study.server import leave_to_server

leave_to_server()

from pathlib import Path

from budgetbench.study.archive import pack
from budgetbench.study.jobs import job_log
from budgetbench.study.study import Study

root, path = Path(snakemake.scriptdir).resolve().parents[1], snakemake.output[0]
with job_log(snakemake.log[0]) as log:
    n_files = pack(Study.from_config(snakemake.config, root), path)
    print(f"{path}: {n_files} files, {snakemake.input.page} among them")
