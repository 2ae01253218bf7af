import pandas as pd

from budgetbench.study import records
from budgetbench.study.jobs import job_log, write_points
from budgetbench.study.model_sequences import schedule_points

files, config = snakemake.input, snakemake.config
with job_log(snakemake.log[0]):
    importance = pd.read_csv(files.importance)
    points = schedule_points(records.read(files.sequences), importance, config["time_limit"])
    made = records.sources_of(files.sequences), records.origins_of(files.sequences)
    write_points(points, snakemake, *made)
