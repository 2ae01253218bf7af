import pandas as pd

from budgetlearn.benchmark import runs
from budgetlearn.benchmark.job import job_log
from budgetlearn.datasets import Dataset

with job_log(snakemake.log[0]):
    dataset = Dataset.load(snakemake.input.data)
    given = pd.read_csv(snakemake.input.given[0]) if snakemake.input.given else None
    params = snakemake.params
    table = runs.draw_costs(dataset, snakemake.wildcards.costs, params.runs, params.seed, given)
    table.to_csv(snakemake.output[0], index=False)
