from budgetbench.datasets.dataset import Dataset
from budgetbench.datasets.table_files import own_prices
from budgetbench.study import runs
from budgetbench.study.jobs import job_log
from budgetlearn.files import write_whole

params, kind = snakemake.params, snakemake.wildcards.costs
with job_log(snakemake.log[0]):
    dataset, given = Dataset.load(snakemake.input.data), None
    if snakemake.input.given:
        given = own_prices(snakemake.input.given[0], params.unpriced, params.content)
    table = runs.draw_costs(dataset, kind, params.runs, params.seed, given)
    write_whole(snakemake.output[0], table.to_csv(index=False))
