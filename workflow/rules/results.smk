# Compare a study's results with stored ones.


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
