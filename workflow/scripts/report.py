from budgetbench.report import Report, price_table, read_sheets, write_report
from budgetbench.study import provenance, records
from budgetbench.study.jobs import job_log
from budgetbench.study.study import Study

files = snakemake.input
with job_log(snakemake.log[0]):
    study = Study.of_job(snakemake, files.points)
    sources = records.sources_of(files.points)
    sheets, prices = read_sheets(study, files.data, sources), price_table(files.costs)
    made_with = provenance.made_with(study, records.origins_of(files.points))
    report = Report.of(study, records.read(files.points), sheets, prices, made_with)
    write_report(report, study.folder)
