from pathlib import Path

from budgetbench.report.paper_studies import run_papers, write_reproduction
from budgetbench.study.jobs import job_log

root = Path(snakemake.scriptdir).resolve().parents[1]
with job_log(snakemake.log[0]) as log:
    failed = run_papers(root, snakemake.threads, snakemake.params.settings)
    write_reproduction(root)
    log.info("studies that ended with an error: %s", ", ".join(failed) or "none")
