# Reproduce the papers' numbers: keep a study's points in the repository, run all studies of papers,
# write the page.


rule keep:
    input:
        POINTS,
    log:
        f"{DIR}/logs/keep.log",
    localrule: True
    conda:
        "../../environment.yml"
    script:
        "../scripts/keep.py"


rule papers:
    log:
        "results/papers/logs/papers.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: lambda w: workflow.cores  # a function, because cluster calls have no number of cores
    params:
        settings=dict(workflow.config_settings.config or {}),
    script:
        "../scripts/papers.py"


rule reproduction:
    log:
        "results/papers/logs/reproduction.log",
    localrule: True
    conda:
        "../../environment.yml"
    script:
        "../scripts/reproduction.py"
