"""Check the configuration of a study, and derive its jobs' parameters and files."""

import difflib
import importlib.util
import itertools
import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from jsonschema.exceptions import best_match

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

from ..datasets.dataset import check_sizes, split
from ..datasets.fetching import content_sha256
from ..datasets.registry import Validator, fault_message, load_registry
from .job_traces import folder_of, split_at_folder
from .methods import check_parameters, sequence_name
from .source_code import check_classes, predicts_numbers, refuse_untrusted

SCHEDULE = "schedule"  # kind of method that is built from model sequences, each in its own job
FIT = "fit"  # kind of method that one job fits and evaluates
ACQUISITION, MEMORY = "acquisition", "memory"  # the budgets that methods are compared under
PUBLISHED = "resources/published"
SMALL_TABLE = 5e6  # bytes; a user's table up to this size is read while a study is planned
# Settings for how the work is done; results do not depend on them.
WORKING = (
    *("runs_per_job", "threads_per_job", "time_limit", "memory_limit", "strict", "retry_failed"),
    *("cluster", "stored"),
    *("datasets_file", "methods_file", "methods_path", "data_dir", "offline"),
)
# Parts of a data set's entry on which its raw files depend, and those that only readers see.
FETCHED = ("id", "kind", "files", "folder", "instructions", "content")
SHOWN = ("title", "licence", "citation")


def check_schema(config, schema_path, what):
    """Refuse a configuration that does not follow a JSON schema, with a line for each fault."""
    faults = Validator(read_yaml(schema_path)).iter_errors(config)
    # Of several forms that a value may have, the fault is about the one that comes closest.
    closest = [best_match([fault]) for fault in faults]
    found = sorted((list(map(str, f.absolute_path)), fault_message(f)) for f in closest)
    if found:
        lines = [f"  {'.'.join(place) or 'top level'}: {message}" for place, message in found]
        raise ConfigError(f"{what} does not follow {Path(schema_path).name}:\n" + "\n".join(lines))


def typed(config, schema_path):
    """Return settings with text converted to the types of the schema, where possible."""
    # Snakemake passes values of `--config` as text, except numbers. So `offline=true`,
    # `time_limit=null`, `datasets=wine` and `datasets=[wine,digits]` are converted as in a file.
    # Text that cannot be converted stays, and `check_schema` refuses it.
    schema = read_yaml(schema_path)
    known_keys = {
        key: schema["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else value
        for key, value in schema["properties"].items()
    }
    return {key: _typed(value, known_keys.get(key, {})) for key, value in config.items()}


def _typed(value, schema):
    kinds = schema.get("type", "object")
    # A title such as "2024" stays text.
    if "string" in kinds and not (value == "null" and "null" in kinds):
        return value
    # The schema accepts 1e3 as an integer, but seeds are derived from the text of a number.
    if "integer" in kinds and isinstance(value, float) and value.is_integer():
        return int(value)
    if kinds == "array" and isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return _plain(value)


def _plain(value):
    """Return `value` with every text in it parsed as YAML."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    with suppress(yaml.YAMLError):  # other text stays, and the schema refuses it
        return yaml.safe_load(value) if isinstance(value, str) else value
    return value


def known(name, names, kind, where):
    """Return `name` if it is among `names`, else raise `ConfigError` with similar names."""
    if name in names:
        return name
    close = difflib.get_close_matches(name, names, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise ConfigError(f"unknown {kind} {name!r}.{hint} {where} has: {', '.join(sorted(names))}.")


def merged(base, override):
    """Return `base` updated with `override`: dictionaries are merged, other values replaced."""
    if not (isinstance(base, dict) and isinstance(override, dict)):
        return override
    return {**base, **{key: merged(base.get(key), value) for key, value in override.items()}}


@dataclass(frozen=True)
class Study:
    """A checked study configuration."""

    config: dict  # the study's settings
    datasets: dict  # {id: DatasetSpec} of the data sets in use
    methods: dict  # {id: specification} of the methods in use, with overrides for all data sets
    root: Path = Path()  # the folder of the workflow
    prefix: str = ""  # before the folder of results, see `split_at_folder`

    @classmethod
    def from_config(cls, config, root, trust=True):
        """Check a configuration as read by Snakemake, and look up its data sets and methods.

        `root` is the workflow's folder; relative paths start at the current one. Without `trust`,
        all classes must come from `TRUSTED` packages, because an import runs code.
        """
        root = Path(root)
        schemas = root / "workflow" / "schemas"
        # Types first, because values of --config are text, which the schema would refuse.
        config = {"title": config.get("study"), **typed(config, schemas / "config.schema.yaml")}
        check_schema(config, schemas / "config.schema.yaml", "the study configuration")
        # Names before methods, because messages about names suggest what to write instead.
        registry = load_registry(here_or_in(config["datasets_file"], root))
        methods = read_yaml(here_or_in(config["methods_file"], root))
        check_schema(methods, schemas / "methods.schema.yaml", config["methods_file"])
        _check_names(config, registry, methods, root)
        where, names = config["methods_file"], _named_methods(config)
        chosen = {name: methods[known(name, methods, "method", where)] for name in names}
        chosen, absent = _installed(config, _overridden(chosen, config))
        if absent:
            config["left_out"] = config.get("left_out", {}) | absent
        # The methods with the overrides of all data sets, then with those of each data set.
        for own in (config, *(own for own in _own(config) if "overrides" in own)):
            _check_methods(_overridden(chosen, own), own.get("overrides", {}), schemas, trust)
        datasets = {name: registry[name] for name in config["datasets"]}
        study = cls(dict(config), datasets, chosen, root)
        study._check_tasks()
        # A named method is not in use if every data set has its own list of methods without it.
        used = {method for *_, method in study.cells}
        return replace(study, methods={n: spec for n, spec in chosen.items() if n in used})

    def _check_tasks(self):
        """Refuse splits, scores and methods that do not fit the task of a data set."""
        for name, spec in self.datasets.items():
            if isinstance(sizes := self.sizes(name), list):
                check_sizes(sizes)
            scoring = self.scoring(name, len(spec.classes or ()) or None)
            if scoring and (self.published or self.budget(name) == MEMORY):
                where = "published tables and errors against memory have scores of their own"
                raise ConfigError(f"{where}: remove the scoring {scoring} of {name}.")
            if self.budget(name) != ACQUISITION:
                continue
            number, methods = spec.task == "regression", self._methods(name)
            regressor = {m: predicts_numbers(self.spec(m, name)["class"]) for m in methods}
            wrong = ", ".join(m for m in methods if regressor[m] != number)
            if wrong and not number:
                raise ConfigError(f"{name} is {spec.task}: remove {wrong}, which predict numbers.")
            if wrong:
                raise ConfigError(
                    f"{name} is regression, and {wrong} predict classes only. With acquisition "
                    "costs, use `methods: [cascade_regressor, budgetrf_regressor, "
                    "lightgbm_coupled_regressor, all_features_regressor, constant]` and "
                    "`overrides: {constant: {class: budgetlearn.peers.FreeConstantRegressor}}` "
                    "(below `by_dataset` for this data set only), or turn its target into classes "
                    "(in its entry `task: classification`, `labels: {quantiles: 4}`)."
                )

    @classmethod
    def of_job(cls, job, path):
        """Return the study of a job (`snakemake` in a script), given a file in its folder."""
        study = cls.from_config(job.config, Path(job.scriptdir).resolve().parents[1])
        return replace(study, prefix=split_at_folder(job.config, path)[0])

    def check_tables(self):
        """Refuse faults in the user's tables before any job starts, if the tables are small."""
        # Without the file, Snakemake itself would go on with the prices of earlier jobs.
        for path in (path for case in self.cases for path in self.price_list(*case)):
            if not Path(path).is_file():
                raise ConfigError(f"there is no price list {path}.")
        for name, spec in self.datasets.items():
            for path in map(Path, self.own_table(name)):
                if path.is_file() and path.stat().st_size <= SMALL_TABLE:
                    from ..datasets.preparing import prepare  # here because it is slow to import

                    self.check_target(prepare(spec))

    def check_target(self, data):
        """Refuse a score, a split or grades that do not fit the target of a data set."""
        self.scoring(data.id, len(data.class_names) or None)
        split(data, 0, self.sizes(data.id))  # each class must have rows for every part
        if data.task == "ranking" and data.y.max() > 1:
            raise ConfigError(
                f"{data.id} has grades up to {data.y.max()}, but AP@5 needs to know which are "
                "relevant: give the lowest one in its entry, as in `labels: {at_least: 1}`."
            )

    @property
    def seed(self):
        """The study's seed."""
        return self.config["seed"]

    @property
    def folder(self):
        """The folder of the study's results."""
        return f"{self.prefix}{folder_of(self.config)}"

    @property
    def settings(self):
        """The settings on which the report depends."""
        return {key: value for key, value in self.config.items() if key not in WORKING}

    @cached_property
    def _planned(self):
        """The entries of the data sets, with the current hashes of the user's tables."""
        # Modification times would not do, because a table may be replaced by an older file.
        planned = dict(self.datasets)
        for name in planned:
            for table in self.own_table(name):
                planned[name] = replace(planned[name], content=content_sha256(Path(table)))
        return planned

    def raw(self, dataset):
        """Return the part of a data set's entry that decides its raw files, as plain data."""
        spec = asdict(self._planned[dataset])
        # Other parts are blank, so that editing them does not fetch the files again.
        words = dict.fromkeys(("title", "task", "reader"), "")
        path = {"path": spec["parameters"]["path"]} if spec["content"] else {}
        return words | {key: spec[key] for key in FETCHED} | {"parameters": path}

    def prepared(self, dataset):
        """Return the part of a data set's entry that decides the prepared data, as plain data."""
        spec = asdict(self._planned[dataset])
        return spec | dict.fromkeys(SHOWN, "") | {"title": dataset, "costs": None}

    @property
    def shown(self):
        """{data set: its title, licence and citation} for readers."""
        return {n: {key: getattr(spec, key) for key in SHOWN} for n, spec in self.datasets.items()}

    def scoring(self, dataset, n_classes=None):
        """Return the name of the score set for a data set; None for the task's default.

        Raise `ConfigError` if the score does not fit the task or the number of classes.
        """
        scoring = self._setting("scoring", dataset)
        if scoring is None:
            return None
        from budgetlearn.protocol.scoring import scores_of  # here because it is rarely needed

        task = self.datasets[dataset].task
        names = scores_of(task, n_classes)
        known(scoring, names, "scoring", f"{task} ({dataset})")
        return None if scoring == names[0] else scoring

    def _setting(self, key, dataset, default=None):
        """Return a setting of a data set: its own, or else the study's."""
        own = self.config.get("by_dataset", {}).get(dataset, {})
        return own.get(key, self.config.get(key, default))

    def _methods(self, dataset):
        """Return the methods of a data set whose packages are installed."""
        return [name for name in self._setting("methods", dataset) if name in self.methods]

    def budget(self, dataset):
        """Return the budget of the comparison on a data set, `ACQUISITION` or `MEMORY`."""
        return self._setting("budget", dataset, ACQUISITION)

    @property
    def cases(self):
        """The (dataset, costs) pairs in which methods are compared."""
        return [(d, kind) for d in self.datasets for kind in self._setting("costs", d)]

    def cases_under(self, budget):
        """Return the cases in which methods are compared by a budget."""
        return [case for case in self.cases if self.budget(case[0]) == budget]

    @property
    def cells(self):
        """The (dataset, costs, method) triples that are fitted in every run."""
        return [(*case, method) for case in self.cases for method in self._methods(case[0])]

    def points_file(self, dataset, costs, method, chunk):
        """Return the file of a method's operating points in a chunk of runs."""
        return f"{self.folder}/points/{dataset}/{costs}/{method}/{chunk}.parquet"

    @property
    def points_files(self):
        """The files of all operating points."""
        return [self.points_file(*cell, chunk) for cell in self.cells for chunk in self.chunks]

    @property
    def chunks(self):
        """Indices of the chunks of runs, as strings."""
        return [str(c) for c in range(-(-self.config["runs"] // self.config["runs_per_job"]))]

    def runs_of(self, chunk):
        """Return the numbers of the runs in a chunk."""
        per_job = self.config["runs_per_job"]
        # Raising `runs` does not change full chunks, so they are not fitted again.
        first = int(chunk) * per_job
        return list(range(first, min(first + per_job, self.config["runs"])))

    def sizes(self, dataset):
        """Return the sizes of a data set's split, as `budgetbench.datasets.split` takes them."""
        sizes = self._setting("split", dataset)
        plain = sizes == "given" or "per_class" in sizes
        return sizes if plain else [sizes[part] for part in ("train", "valid", "test")]

    @property
    def published(self):
        """The files of published numbers that the report compares with the study's."""
        names = self.config.get("published", [])
        return [here_or_in(f"{PUBLISHED}/{name}.csv", self.root) for name in names]

    def own_table(self, dataset):
        """Return a list with the user's table of a data set; empty for other sources."""
        spec = self.datasets[dataset]
        return [spec.parameters["path"]] if spec.kind == "csv" else []

    def price_list(self, dataset, kind):
        """Return a list with the price list of a cost profile; empty for other profiles."""
        if kind != "given":
            return []
        path = self.datasets[dataset].costs
        if path is None:
            raise ConfigError(
                f"{dataset} has no price list for the cost profile 'given'. Add a csv file "
                f"(feature, cost) as `costs` to its entry in {self.config['datasets_file']}."
            )
        return [here_or_in(path, self.root)]

    def price_content(self, dataset, kind):
        """Return the current sha256 of the price list of a cost profile; None if it has none."""
        files = self.price_list(dataset, kind)
        return content_sha256(Path(files[0])) if files else None

    def unpriced(self, dataset):
        """Return the columns of the user's table that are no features, so need no price."""
        given = self.datasets[dataset].parameters if self.own_table(dataset) else {}
        others = (given.get("target"), given.get("group"), *given.get("drop", ()))
        return [name for name in others if name is not None]

    def source(self, dataset):
        """Return the `Dataset.source` that the prepared data must have."""
        return self._planned[dataset].digest

    def methods_of(self, kind):
        """Return the ids of the methods of a kind (`SCHEDULE` or `FIT`)."""
        return [name for name, spec in self.methods.items() if spec.get("kind", FIT) == kind]

    def spec(self, method, dataset):
        """Return a method's specification on a data set: with tries its space, else its grid."""
        # It is a parameter of the jobs, which are run again if anything in it changes.
        own = self.config.get("by_dataset", {}).get(dataset, {}).get("overrides", {})
        spec = merged(self.methods[method], own.get(method, {}))
        tries = self.config.get("tries")
        tuned = tries is not None and "space" in spec
        keys = ("class", "space" if tuned else "grid", "seed_as")
        decisive = {key: spec[key] for key in keys if key in spec}
        decisive |= {"tries": tries} if tuned else {}
        # The method may use as many seconds as the one in `seconds_of`, if that is fitted as well.
        other = self.config.get("seconds_of")
        if tuned and other not in (None, method) and other in self._methods(dataset):
            decisive["seconds_of"] = other
        decisive |= {"refit": refit} if (refit := self.config.get("refit")) else {}
        if scoring := self.scoring(dataset):  # no key for the default, which older results lack
            decisive["scoring"] = scoring
        decisive["parameters"] = spec.get("parameters", {})
        # Sorted keys, so that reordering lines reruns no job.
        return json.loads(json.dumps(decisive, sort_keys=True))

    def seconds_files(self, method, dataset, costs, chunk):
        """Return a list with the points file whose seconds a method may use; empty if none."""
        other = self.spec(method, dataset).get("seconds_of")
        return [] if other is None else [self.points_file(dataset, costs, other, chunk)]

    def beyond_tries(self, points):
        """Return a mask of the operating points from settings after the tries (`seconds_of`)."""
        if self.config.get("seconds_of") is None:
            return np.zeros(len(points), dtype=bool)
        pairs = pd.MultiIndex.from_frame(points[["dataset", "method"]])
        going = [(d, m) for d, m in pairs.unique() if "seconds_of" in self.spec(m, d)]
        return pairs.isin(going) & (points["fit"] >= self.config["tries"])

    def sequences(self, method, dataset):
        """Return the names of the sequences of a schedule method on a data set."""
        return [sequence_name(e) for e in self.spec(method, dataset)["parameters"]["sequences"]]


def with_defaults(config, root):
    """Return settings completed by `config.yaml` and, if they are no whole study, the default."""
    folder = Path(root, "config")
    base = read_yaml(folder / "config.yaml")
    if "study" not in config or not config.keys() & {"datasets", "methods"}:
        name = config.get("study", "default")
        if name != "default" and (folder / "studies" / f"{name}.yaml").exists():
            raise ConfigError(
                f"study={name} names results, but config/studies/{name}.yaml was not read. Add "
                f"--configfile config/studies/{name}.yaml, or give the default study another name."
            )
        base = merged(base, read_yaml(folder / "studies" / "default.yaml"))
    if isinstance(config.get("split"), dict) and "per_class" in config["split"]:
        base = base | {"split": None}  # the default's shares must not be merged into it
    return merged(base, config)


def here_or_in(path, root):
    """Return the path of a file in the current folder, or else in the workflow's folder."""
    there = Path(path).exists() or not (Path(root) / path).exists()
    return str(path) if there else str(Path(root) / path)


def _own(config):
    """Return the settings of each data set in use that has settings of its own."""
    by_dataset = config.get("by_dataset", {})
    return [by_dataset[name] for name in config["datasets"] if name in by_dataset]


def _named_methods(config):
    """Return the methods of the study, then those that only some data sets have."""
    own = (settings.get("methods", ()) for settings in _own(config))
    return list(dict.fromkeys(itertools.chain(config["methods"], *own)))


def _check_names(config, registry, methods, root):
    """Refuse unknown names in all settings but `datasets` and `methods`."""
    for key in ("by_dataset", "stand_ins"):
        for name in config.get(key, {}):
            registry[name]  # raises for an unknown name
    overrides = [config.get("overrides", {}), *(own.get("overrides", {}) for own in _own(config))]
    shown = [config.get("own_cost", []), *config.get("staircases", {}).values()]
    # Overrides may be for any method, as a call may use only some of a study's methods.
    for method in itertools.chain(*overrides):
        known(method, methods, "method in overrides", config["methods_file"])
    for method in itertools.chain(*shown):
        known(method, _named_methods(config), "method in a figure", "the study")
    if (other := config.get("seconds_of")) is not None:
        known(other, _named_methods(config), "method in seconds_of", "the study")
        if config.get("tries") is None:
            raise ConfigError("seconds_of adds settings after a method's tries: set tries too.")
    tables = [path.stem for path in Path(here_or_in(PUBLISHED, root)).glob("*.csv")]
    for name in config.get("published", []):
        known(name, tables, "published table", PUBLISHED)


def _overridden(methods, settings):
    """Return the specifications with the overrides in some settings."""
    overrides = settings.get("overrides", {})
    return {name: merged(spec, overrides.get(name, {})) for name, spec in methods.items()}


def _installed(config, specs):
    """Return the specifications with installed packages, and {label: why not} of the others."""
    present, reasons = {}, {}
    for name, spec in specs.items():
        if "needs" not in spec or importlib.util.find_spec(spec["needs"]):
            present[name] = spec
        else:
            reasons[spec["label"]] = f"needs the package {spec['needs']}, which is not installed"
    if reasons and not present.keys() & set(config["methods"]) - {"constant"}:
        each = "; ".join(f"{label} {why}" for label, why in reasons.items())
        raise ConfigError(f"No method of the study can run: {each}. Install these packages.")
    return present, reasons


def _check_methods(specs, overridden, schemas, trust):
    check_schema(specs, schemas / "methods.schema.yaml", "a method with its overrides")
    labels = [spec["label"] for spec in specs.values()]
    if len(set(labels)) < len(labels):
        same = max(labels, key=labels.count)
        raise ConfigError(f"Several methods have the label {same!r}: give each a different one.")
    for name, spec in specs.items():
        if "grid" in spec and spec.get("kind") == SCHEDULE:
            raise ConfigError(
                f"{name} has a grid, but it is built from sequences, and only methods that one job "
                "fits may have one. Add an entry to the methods file for each of its settings."
            )
        if not trust:
            refuse_untrusted(name, spec)
        check_classes(name, spec)
        if name in overridden:  # only these, because the check imports the class
            check_parameters(spec)
