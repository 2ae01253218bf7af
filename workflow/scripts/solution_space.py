from budgetlearn.benchmark import records
from budgetlearn.benchmark.job import job_log
from budgetlearn.benchmark.spaces import solution_space
from budgetlearn.datasets import read_prices

files = snakemake.input
with job_log(snakemake.log[0]):
    points, prices = records.read(files.points), read_prices(files.costs)
    space = solution_space(points, prices, snakemake.params.subsets)
    space.to_csv(snakemake.output[0], index=False)
