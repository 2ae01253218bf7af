# What is done with a study's results: compared with stored ones, packed into one file.


rule rerun_check:
    input:
        fresh=rules.collect.output[0],
        stored=lambda w: local(stored_points(STUDY.config["stored"], PLACE)),
    log:
        f"{DIR}/logs/rerun_check.log",
    localrule: True
    conda:
        "../../environment.yml"
    script:
        "../scripts/rerun_check.py"


rule archive:
    input:
        page=rules.report.output.page,
        others=[rules.report.output.parts, rules.report.output.captions],
        points=rules.collect.output[0],
    output:
        f"results/{STUDY.name}.zip",
    log:
        f"{DIR}/logs/archive.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        settings=STUDY.settings,
        code=code_of("archive.py"),
    script:
        "../scripts/archive.py"
