from budgetbench.study import records
from budgetbench.study.jobs import job_log, write_csv
from budgetbench.study.model_sequences import solution_space
from budgetlearn.costs import read_prices

files = snakemake.input
with job_log(snakemake.log[0]):
    points, prices = records.read(files.points), read_prices(files.costs)
    space = solution_space(points, prices, snakemake.params.subsets)
    write_csv(space, snakemake.output[0])
