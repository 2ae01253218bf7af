"""Which files a study's report reads to look inside msB, and which figures come of them.

Imports nothing heavy: the Snakefile asks at every start.
"""

from .study import ACQUISITION, SCHEDULE

IMPORTANCE, SOLUTION_SPACE = "importance", "solution_space"


def msb_of(study, dataset):
    """Return the first method of a data set that is built from sequences; None without one."""
    scheduled = study.methods_of(SCHEDULE)
    own = [method for case, _, method in study.cells if case == dataset and method in scheduled]
    return own[0] if own else None


def importance_files(study):
    """Return the tables of importance that the report shows, .../<dataset>/<method>/<chunk>.csv."""
    return [
        f"{study.folder}/importance/{dataset}/{msb_of(study, dataset)}/{chunk}.csv"
        for dataset in study.datasets
        for chunk in study.chunks
        if _wants(study, IMPORTANCE) and msb_of(study, dataset)
    ]


def visited_files(study):
    """Return the models of the first chunk, .../<dataset>/<costs>/<method>/<sequence>/<chunk>.csv.

    One run is shown, and that is the first.
    """
    return [
        f"{study.folder}/sequences/{dataset}/{costs}/{msb}/{sequence}/{study.chunks[0]}.csv"
        for dataset, costs in _cases(study)
        if _wants(study, SOLUTION_SPACE) and (msb := msb_of(study, dataset))
        for sequence in study.sequences(msb, dataset)
    ]


def inside_figures(study):
    """Return the names of the figures that show msB from inside."""
    cases = [f"{dataset}_{costs}" for dataset, costs in _cases(study)]
    datasets = dict.fromkeys(dataset for dataset, _ in _cases(study))
    return [
        *(f"importance_{dataset}" for dataset in datasets if _wants(study, IMPORTANCE)),
        *(f"staircases_{case}" for case in cases if study.config.get("staircases")),
        *(f"space_{case}" for case in cases if _wants(study, SOLUTION_SPACE)),
        *(["own_cost"] if study.config.get("own_cost") else []),
    ]


def _cases(study):
    return study.cases_under(ACQUISITION)


def _wants(study, figure):
    return figure in study.config.get("figures", [])
