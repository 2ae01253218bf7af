# Raw files → data set → split. Building the DAG fetches nothing.


rule fetch:
    input:
        own=lambda w: local(STUDY.own_table(w.dataset)),
    output:
        manifest="resources/data/{dataset}/manifest.json",
    log:
        f"{DIR}/logs/fetch/{{dataset}}.log",
    priority: FIRST
    localrule: True
    conda:
        "../../environment.yml"
    params:
        spec=lambda w: STUDY.raw(w.dataset),
    script:
        "../scripts/fetch.py"


rule prepare:
    input:
        "resources/data/{dataset}/manifest.json",
    output:
        f"{DIR}/data/{{dataset}}.parquet",
    log:
        f"{DIR}/logs/prepare/{{dataset}}.log",
    # The output depends only on manifest, entry and code, so `--cache` can share it.
    cache: "omit-software"
    priority: FIRST
    localrule: STORED
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: Minutes(attempt * cells(w.dataset) / 2e7),
    params:
        spec=lambda w: STUDY.prepared(w.dataset),
        code=code_of("prepare.py"),
    script:
        "../scripts/prepare.py"


rule split:
    input:
        data=rules.prepare.output[0],
    output:
        f"{DIR}/splits/{{dataset}}/{{chunk}}.parquet",
    log:
        f"{DIR}/logs/split/{{dataset}}/{{chunk}}.log",
    priority: FIRST
    group:
        "runs"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory_up_to(1000),
        runtime=light(0.1),
        slot=1,
    params:
        seed=STUDY.seed,
        runs=lambda w: STUDY.runs_of(w.chunk),
        sizes=lambda w: STUDY.sizes(w.dataset),
        code=code_of("split.py"),
    script:
        "../scripts/split.py"


rule data:
    input:
        DATA,
    localrule: True
