import pandas as pd

from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log, write_points
from budgetlearn.benchmark.model_sequences import schedule_points

files, params = snakemake.input, snakemake.params
with job_log(snakemake.log[0]):
    points = schedule_points(records.read(files.sequences), pd.read_csv(files.importance))
    origins = records.origins_of(files.sequences)
    write_points(points, snakemake.output[0], params.attempt, snakemake.config, origins)
