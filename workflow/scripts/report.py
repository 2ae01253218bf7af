from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log
from budgetlearn.benchmark.study import Study
from budgetlearn.report import metadata_of, write_report

files, root = snakemake.input, snakemake.params.root
with job_log(snakemake.log[0]):
    study = Study.from_config(snakemake.config, root)
    origins = records.origins_of(files.points)
    metadata = metadata_of(study, files.data, files.costs, root, origins)
    write_report(records.read(files.points), metadata, study.folder)
