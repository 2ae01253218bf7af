from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log
from budgetlearn.benchmark.study import Study
from budgetlearn.report import metadata_of, write_report

files, params = snakemake.input, snakemake.params
with job_log(snakemake.log[0]):
    study = Study.from_config(params.config, params.root)
    metadata = metadata_of(study, files.data, files.costs, params.root)
    write_report(records.read(files.points), metadata, study.folder)
