from budgetlearn.benchmark import runs
from budgetlearn.benchmark.job import job_log
from budgetlearn.datasets import Dataset, read_prices

with job_log(snakemake.log[0]):
    dataset = Dataset.load(snakemake.input.data)
    given = read_prices(snakemake.input.given[0]) if snakemake.input.given else None
    params = snakemake.params
    kind, crossed = snakemake.wildcards.costs, params.crossed
    table = runs.draw_costs(dataset, kind, params.runs, params.seed, given, crossed)
    table.to_csv(snakemake.output[0], index=False)
