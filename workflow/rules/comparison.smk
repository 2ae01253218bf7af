# Methods that one job fits and evaluates; then operating points → aggregate → report.


rule fit:
    input:
        data=rules.prepare.output[0],
        split=rules.split.output[0],
        costs=rules.costs.output[0],
    output:
        f"{DIR}/points/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.parquet",
    log:
        f"{DIR}/logs/fit/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.log",
    benchmark:
        f"{DIR}/benchmarks/fit/{{dataset}}/{{costs}}/{{method}}/{{chunk}}.tsv"
    wildcard_constraints:
        method="|".join(STUDY.methods_of(FIT)) or "no_fit_method",
    conda:
        "../../environment.yml"
    threads: STUDY.config["threads_per_job"]
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 240 * attempt,
    params:
        spec=lambda w: STUDY.spec(w.method, w.dataset),
        seed=STUDY.seed,
        # Not an output: Snakemake deletes those of an interrupted job, this is to outlive it.
        subsets=f"{DIR}/subsets/{{dataset}}/{{costs}}/{{method}}",
        attempt=attempt_at("points/{dataset}/{costs}/{method}/{chunk}.parquet"),
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
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        code=code_of("collect.py"),
    script:
        "../scripts/collect.py"


rule report:
    input:
        points=rules.collect.output[0],
        data=expand(rules.prepare.output[0], dataset=STUDY.datasets),
        costs=[
            f"{DIR}/costs/{dataset}/{costs}/{chunk}.csv"
            for dataset, costs in STUDY.cases
            for chunk in STUDY.chunks
        ],
        published=STUDY.published,
        reasons="resources/published/deviations.yaml",
        importance=there(importance_files(STUDY)),
        visited=there(visited_files(STUDY)),
    output:
        page=report(f"{DIR}/report.html", caption="../report/page.rst", category="Report"),
        areas=[
            report(
                f"{DIR}/figures/{figure}.svg",
                caption=f"../report/{figure}.rst",
                category="Who wins",
                labels={"figure": label},
            )
            for figure, label in AREA_FIGURES.items()
        ],
        times=[
            report(
                f"{DIR}/figures/{figure}.svg",
                caption=f"../report/{figure}.rst",
                category="Time",
                labels={"figure": label},
            )
            for figure, label in TIME_FIGURES.items()
        ],
        curves=[
            report(
                f"{DIR}/figures/curves_{dataset}_{costs}.svg",
                caption="../report/curves.rst",
                category="Cost–accuracy curves",
                labels={"data set": dataset, "costs": costs},
            )
            for dataset, costs in STUDY.cases_under(ACQUISITION)
        ],
        schedules=[
            report(
                f"{DIR}/figures/schedule_{dataset}_{costs}.svg",
                caption="../report/schedule.rst",
                category="Model schedules",
                labels={"data set": dataset, "costs": costs},
            )
            for dataset, costs in STUDY.cases_under(ACQUISITION)
        ],
        acquisition=[
            report(
                f"{DIR}/figures/acquisition_{dataset}_{costs}.svg",
                caption="../report/acquisition.rst",
                category="Features bought",
                labels={"data set": dataset, "costs": costs},
            )
            for dataset, costs in STUDY.cases_under(ACQUISITION)
        ],
        memory=[
            report(
                f"{DIR}/figures/memory_{dataset}_{costs}.svg",
                caption="../report/memory.rst",
                category="Error against memory",
                labels={"data set": dataset, "costs": costs},
            )
            for dataset, costs in STUDY.cases_under(MEMORY)
        ],
        inside=[
            report(
                f"{DIR}/figures/{figure}.svg",
                caption="../report/inside.rst",
                category="Inside msB",
                labels={"figure": figure},
            )
            for figure in inside_figures(STUDY)
        ],
        tables=[
            report(
                f"{DIR}/tables/{table}.csv",
                caption=f"../report/{caption}.rst",
                category="Tables",
                labels={"table": table},
            )
            for table, caption in REPORT_TABLES.items()
        ],
    log:
        f"{DIR}/logs/report.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 30 * attempt,
    params:
        settings=STUDY.settings,
        methods=STUDY.methods,
        shown=STUDY.shown,
        root=workflow.basedir,
        code=report_fingerprint(script_path("report.py")),
    script:
        "../scripts/report.py"
