from budgetbench.report import Report, price_table, read_sheets, write_report
from budgetbench.study import provenance, records
from budgetbench.study.jobs import job_log
from budgetbench.study.runs import given_prices
from budgetbench.study.study import Study

REMEDY = (
    "Snakemake took them for up to date (after --touch, under --rerun-triggers, or without its "
    "records in .snakemake). Repeat the command with --forcerun prepare."
)
files = snakemake.input
with job_log(snakemake.log[0]):
    study = Study.of_job(snakemake, files.points)
    points, sources = records.read(files.points), records.sources_of(files.points)
    cells = points[["dataset", "costs", "method"]].drop_duplicates().to_numpy()
    prices = price_table(files.costs)
    now = given_prices(study, prices)
    provenance.refuse_outdated(study, files.points, cells, REMEDY, now)
    sheets = read_sheets(study, files.data, sources)
    made_with = provenance.made_with(study, records.origins_of(files.points))
    report = Report.of(study, points, sheets, prices, made_with)
    write_report(report, study.folder)
