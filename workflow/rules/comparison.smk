# Methods that one job fits and evaluates; then operating points → aggregate → report.


rule fit:
    input:
        data=rules.prepare.output,
        split=rules.split.output,
        costs=rules.costs.output,
    output:
        f"{DIR}/points/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.parquet",
    wildcard_constraints:
        method="|".join(STUDY.methods_of(FIT)) or "no_fit_method",
    log:
        f"{DIR}/logs/fit/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.log",
    benchmark:
        f"{DIR}/benchmarks/fit/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.tsv"
    params:
        spec=lambda w: STUDY.spec(w.method),
        seed=STUDY.seed,
        limit=STUDY.config["time_limit"],
        code=CODE["fit"],
    threads: STUDY.config["threads_per_job"]
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 240 * attempt,
    conda:
        "budgetlearn"
    script:
        "../scripts/fit.py"
