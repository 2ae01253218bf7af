# msB: importance → model sequences (in parallel) → schedule of their union.


rule msb_importance:
    input:
        data=rules.prepare.output[0],
        split=rules.split.output[0],
        repeated=repeated("importance/{dataset}/{method}/{chunk}.csv"),
    output:
        f"{DIR}/importance/{{dataset}}/{{method}}/{{chunk}}.csv",
    log:
        f"{DIR}/logs/msb_importance/{{dataset}}/{{method}}/{{chunk}}.log",
    benchmark:
        f"{DIR}/usage/msb_importance/{{dataset}}/{{method}}/{{chunk}}.tsv"
    priority: FIRST
    group:
        "runs"
    conda:
        "../../environment.yml"
    threads: STUDY.config["threads_per_job"]
    resources:
        mem_mb=memory,
        runtime=minutes("msb_importance", "dataset", "method"),
        attempt=lambda w, attempt: attempt,
        slot=1,
    params:
        spec=lambda w: STUDY.spec(w.method, w.dataset),
        seed=STUDY.seed,
        code=code_for("msb_importance.py"),
    script:
        "../scripts/msb_importance.py"


rule msb_sequence:
    input:
        data=rules.prepare.output[0],
        split=rules.split.output[0],
        costs=rules.costs.output[0],
        importance=rules.msb_importance.output[0],
        repeated=repeated("sequences/{dataset}/{costs}/{method}/{sequence}/{chunk}.parquet"),
    output:
        points=f"{DIR}/sequences/{{dataset}}/{{costs}}/{{method}}/{{sequence}}/{{chunk}}.parquet",
        visited=f"{DIR}/sequences/{{dataset}}/{{costs}}/{{method}}/{{sequence}}/{{chunk}}.csv",
    log:
        f"{DIR}/logs/msb_sequence/{{dataset}}/{{costs}}/{{method}}/{{sequence}}/{{chunk}}.log",
    benchmark:
        f"{DIR}/usage/msb_sequence/{{dataset}}/{{costs}}/{{method}}/{{sequence}}/{{chunk}}.tsv"
    priority: heaviest_first("msb_sequence", "dataset", "costs", "method", "sequence")
    group:
        "runs"
    conda:
        "../../environment.yml"
    threads: STUDY.config["threads_per_job"]
    resources:
        mem_mb=memory,
        runtime=minutes("msb_sequence", "dataset", "costs", "method", "sequence"),
        attempt=lambda w, attempt: attempt,
        slot=1,
    params:
        spec=lambda w: STUDY.spec(w.method, w.dataset),
        seed=STUDY.seed,
        code=code_for("msb_sequence.py"),
    script:
        "../scripts/msb_sequence.py"


rule msb_schedule:
    input:
        importance=rules.msb_importance.output[0],
        sequences=lambda w: [
            f"{DIR}/sequences/{w.dataset}/{w.costs}/{w.method}/{sequence}/{w.chunk}.parquet"
            for sequence in STUDY.sequences(w.method, w.dataset)
        ],
        repeated=repeated("points/{dataset}/{costs}/{method}/{chunk}.parquet"),
    output:
        f"{DIR}/points/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.parquet",
    log:
        f"{DIR}/logs/msb_schedule/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.log",
    wildcard_constraints:
        method="|".join(STUDY.methods_of(SCHEDULE)) or "no_schedule_method",
    group:
        "runs"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory_up_to(1000),
        runtime=light(0.1),
        slot=1,
    params:
        code=code_of("msb_schedule.py"),
    script:
        "../scripts/msb_schedule.py"
