import pandas as pd

from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log
from budgetlearn.benchmark.model_sequences import schedule_points

with job_log(snakemake.log[0]):
    importance = pd.read_csv(snakemake.input.importance)
    points = schedule_points(records.read(snakemake.input.sequences), importance)
    records.write(points, snakemake.output[0])
