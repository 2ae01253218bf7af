# Methods that one job fits and evaluates; then operating points → aggregate → report.


rule fit:
    input:
        data=rules.prepare.output[0],
        split=rules.split.output[0],
        costs=rules.costs.output[0],
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
        "../../environment.yml"
    script:
        "../scripts/fit.py"


rule collect:
    input:
        expand(
            f"{DIR}/points/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.parquet",
            dataset=STUDY.datasets,
            costs=STUDY.config["costs"],
            method=STUDY.methods,
            chunk=STUDY.chunks,
        ),
    output:
        f"{DIR}/points.parquet",
    log:
        f"{DIR}/logs/collect.log",
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    conda:
        "../../environment.yml"
    script:
        "../scripts/collect.py"
