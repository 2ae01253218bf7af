from budgetbench.study import records
from budgetbench.study.jobs import job_log
from budgetbench.study.model_sequences import solution_space
from budgetlearn.files import write_whole

files = snakemake.input
with job_log(snakemake.log[0]):
    points, prices = records.read(files.points), records.read_costs(files.costs)
    space = solution_space(points, prices, snakemake.params.subsets)
    write_whole(snakemake.output[0], space.to_csv(index=False))
