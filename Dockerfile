# The benchmark with all that it needs, in the versions of requirements.lock:
#   docker build -t budgetlearn .
#   docker run --rm -v "$PWD:/study" budgetlearn --cores 2 --configfile my_study.yaml
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .
# As constraints, so that tools of developers stay out; those cannot carry hashes beside a wheel of our own.
RUN sed -e '/--hash=/d' -e 's/ *\\$//' requirements.lock > /wheels/constraints.txt

FROM python:3.13-slim
# OpenMP's runtime, for the kernels and LightGBM.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN wheel=$(echo /wheels/*.whl) && pip install --no-cache-dir --constraint /wheels/constraints.txt \
    "${wheel}[workflow,slurm,cluster]" && rm -r /wheels
COPY Snakefile environment.yml /budgetlearn/
COPY workflow /budgetlearn/workflow
COPY config /budgetlearn/config
COPY profiles /budgetlearn/profiles
COPY resources /budgetlearn/resources
WORKDIR /study
ENTRYPOINT ["snakemake", "--snakefile", "/budgetlearn/Snakefile"]
