from budgetbench.datasets.dataset import Dataset
from budgetbench.study import runs
from budgetbench.study.jobs import job_log
from budgetlearn.files import whole_file

with job_log(snakemake.log[0]):
    dataset = Dataset.load(snakemake.input.data)
    params = snakemake.params
    parts = runs.draw_splits(dataset, params.runs, params.seed, params.sizes)
    with whole_file(snakemake.output[0]) as partial:
        parts.to_parquet(partial)
