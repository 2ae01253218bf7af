# The papers' numbers: keep a study's points in the repository, run all studies of papers, write the page.


rule keep:
    localrule: True
    input:
        POINTS,
    log:
        f"{DIR}/logs/keep.log",
    conda:
        "../../environment.yml"
    script:
        "../scripts/keep.py"


rule papers:
    localrule: True
    log:
        "results/papers/logs/papers.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    params:
        settings=dict(workflow.config_settings.config or {}),
    script:
        "../scripts/papers.py"


rule reproduction:
    localrule: True
    log:
        "results/papers/logs/reproduction.log",
    conda:
        "../../environment.yml"
    script:
        "../scripts/reproduction.py"
