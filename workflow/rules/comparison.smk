# Fit and evaluate the methods that take one job; collect all operating points; write the report.


rule fit:
    input:
        data=rules.prepare.output[0],
        split=rules.split.output[0],
        costs=rules.costs.output[0],
        seconds=lambda w: STUDY.seconds_files(w.method, w.dataset, w.costs, w.chunk),
        repeated=repeated("points/{dataset}/{costs}/{method}/{chunk}.parquet"),
    output:
        f"{DIR}/points/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.parquet",
    log:
        f"{DIR}/logs/fit/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.log",
    benchmark:
        f"{DIR}/usage/fit/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.tsv"
    wildcard_constraints:
        method="|".join(STUDY.methods_of(FIT)) or "no_fit_method",
    priority: heaviest_first("fit", "dataset", "costs", "method")
    group:
        "runs"
    conda:
        "../../environment.yml"
    threads: STUDY.config["threads_per_job"]
    resources:
        mem_mb=memory,
        runtime=minutes("fit", "dataset", "costs", "method"),
        attempt=lambda w, attempt: attempt,
        slot=1,
    params:
        spec=lambda w: STUDY.spec(w.method, w.dataset),
        seed=STUDY.seed,
        # Not an output, because Snakemake deletes the outputs of an interrupted job. Always on this
        # machine, even if outputs go to a storage.
        subsets=f"{PLACE}/subsets/{{dataset}}/{{costs}}/{{method}}",
        code=code_for("fit.py"),
    script:
        "../scripts/fit.py"


rule collect:
    input:
        POINTS,
    output:
        f"{DIR}/points.parquet",
    log:
        f"{DIR}/logs/collect.log",
    group:
        None if STORED else "results"
    localrule: STORED
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=light(0.2 + len(POINTS) / 2000),
    params:
        code=code_of("collect.py"),
    script:
        "../scripts/collect.py"


rule solution_space:
    input:
        points=rules.fit.output[0],
        costs=rules.costs.output[0],
    output:
        f"{DIR}/spaces/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.csv",
    log:
        f"{DIR}/logs/solution_space/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.log",
    group:
        "runs"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory_up_to(2000),
        runtime=light(0.2),
        slot=1,
    params:
        subsets=rules.fit.params.subsets,
        code=code_of("solution_space.py"),
    script:
        "../scripts/solution_space.py"


rule report:
    input:
        points=rules.collect.output[0],
        data=DATA,
        costs=[
            f"{DIR}/costs/{dataset}/{costs}/{chunk}.csv"
            for dataset, costs in STUDY.cases
            for chunk in STUDY.chunks
        ],
        sections=[
            file if file.startswith(DIR) else local(file)
            for file in there([path for section in SECTIONS for path in section.inputs])
        ],
    output:
        page=report(
            f"{DIR}/report.html",
            caption="../report/page.rst",
            category="Report",
        ),
        parts=[
            report(
                f"{DIR}/{part.path}",
                caption=os.path.abspath(f"{PLACE}/{part.caption_path}"),
                category=part.category,
                labels=part.labels,
            )
            for section in SECTIONS
            for part in section.parts
        ],
        captions=[f"{DIR}/{part.caption_path}" for section in SECTIONS for part in section.parts],
    log:
        f"{DIR}/logs/report.log",
    group:
        None if STORED else "results"
    localrule: STORED
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=light(1 + len(POINTS) / 200),
    params:
        settings=STUDY.settings,
        methods=STUDY.methods,
        shown=STUDY.shown,
        code=report_fingerprint(script_path("report.py")),
    script:
        "../scripts/report.py"
