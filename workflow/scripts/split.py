from budgetlearn.benchmark import runs
from budgetlearn.benchmark.job import job_log
from budgetlearn.datasets import Dataset

with job_log(snakemake.log[0]):
    dataset = Dataset.load(snakemake.input.data)
    params = snakemake.params
    parts = runs.draw_splits(dataset, params.runs, params.seed, params.sizes, params.crossed)
    parts.to_parquet(snakemake.output[0])
