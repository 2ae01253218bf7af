# Cost profiles: one table of prices for each chunk of runs, shared by all methods.


rule costs:
    input:
        data=rules.prepare.output[0],
        given=lambda w: local(STUDY.price_list(w.dataset, w.costs)),
    output:
        f"{DIR}/costs/{{dataset}}/{{costs}}/{{chunk}}.csv",
    log:
        f"{DIR}/logs/costs/{{dataset}}/{{costs}}/{{chunk}}.log",
    priority: FIRST
    group:
        None if STORED else "runs"
    localrule: STORED
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory_up_to(1000),
        runtime=light(0.1),
        slot=1,
    params:
        seed=STUDY.seed,
        runs=lambda w: STUDY.runs_of(w.chunk),
        content=lambda w: STUDY.price_content(w.dataset, w.costs),
        unpriced=lambda w: STUDY.unpriced(w.dataset),
        code=code_of("costs.py"),
    script:
        "../scripts/costs.py"
