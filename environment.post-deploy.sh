# Run by `snakemake --sdm conda` in the environment that it made of environment.yml: install the package
# from the workflow's folder, which the Snakefile names. A copy is built, so that nothing is left there.
set -e
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$BUDGETLEARN_FOLDER"
cp -R pyproject.toml setup.py MANIFEST.in README.md LICENSE src "$copy"
find "$copy" -name '*.so' -delete # kernels of another Python
python -m pip install --no-build-isolation --no-deps "$copy"
