"""A study: what its configuration asks for, checked, and the files that come of it."""

import importlib.util
import itertools
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

from ..datasets.fetching import content_sha256
from ..datasets.registry import load_registry
from .configuration import check_schema, known, merged, typed
from .kept_jobs import folder_of, split_at_folder
from .methods import sequence_name
from .source_code import check_classes, refuse_untrusted

SCHEDULE = "schedule"  # built from model sequences, by rules of their own
FIT = "fit"  # one job fits and evaluates
ACQUISITION, MEMORY = "acquisition", "memory"  # the budgets that methods are compared under
PUBLISHED = "resources/published"
# Settings that say how the work is done; no number depends on them.
WORKING = (
    *("runs_per_job", "threads_per_job", "time_limit", "memory_limit", "strict", "retry_failed"),
    *("cluster", "stored"),
    *("datasets_file", "methods_file", "methods_path", "data_dir", "offline"),
)
# What of a data set's entry its raw files depend on, and what only readers see.
FETCHED = ("id", "kind", "files", "folder", "instructions", "content")
SHOWN = ("title", "licence", "citation")


@dataclass(frozen=True)
class Study:
    """A checked study configuration."""

    config: dict  # the study's settings
    datasets: dict  # id to DatasetSpec, of the data sets in use
    methods: dict  # id to specification, the study's overrides for all data sets applied
    root: Path = Path()  # the folder of the workflow
    head: str = ""  # what stands before the folder of its results, see `split_at_folder`

    @classmethod
    def from_config(cls, config, root, trust=True):
        """Check a configuration, as Snakemake read it, and look up what it names.

        `root` is the folder of the workflow; what a configuration names is below the current
        folder. Without `trust` no method may be a class of others than `TRUSTED`, whose import runs
        code. A `ConfigError` says where there is a typo, an unknown data set or method, or settings
        that contradict each other.
        """
        root = Path(root)
        schemas = root / "workflow" / "schemas"
        # Types first: what stands behind --config is text, which no schema would take.
        config = {"title": config.get("study"), **typed(config, schemas / "config.schema.yaml")}
        check_schema(config, schemas / "config.schema.yaml", "the study configuration")
        # Names before methods: their messages say what to write instead.
        registry = load_registry(place_of(config["datasets_file"], root))
        methods = read_yaml(place_of(config["methods_file"], root))
        check_schema(methods, schemas / "methods.schema.yaml", config["methods_file"])
        _check_names(config, registry, root)
        config = _installed(config, _chosen(config, methods))
        chosen = _chosen(config, methods)
        # Overrides of one data set may spoil what the others leave right.
        changed = (_overridden(chosen, own.get("overrides", {})) for own in _own(config))
        for specs in (chosen, *changed):
            _check_methods(specs, schemas, trust)
        datasets = {name: registry[name] for name in config["datasets"]}
        study = cls(dict(config), datasets, chosen, root)
        study._check_tasks()
        return study

    def _check_tasks(self):
        """Refuse classifiers where numbers are to be predicted under acquisition costs."""
        for name, spec in self.datasets.items():
            if spec.task != "regression" or self.budget(name) != ACQUISITION:
                continue
            methods = self._setting("methods", name)
            wrong = [m for m in methods if not self.spec(m, name)["class"].endswith("Regressor")]
            if wrong:
                raise ConfigError(
                    f"{name} is regression, and {', '.join(wrong)} predict classes only. Under "
                    "acquisition costs take `methods: [cascade_regressor, constant]` and "
                    "`overrides: {constant: {class: budgetlearn.peers.FreeConstantRegressor}}` "
                    "(under `by_dataset` for this one alone), or make classes of its target (in "
                    "its entry `task: classification`, `labels: {quantiles: 4}`)."
                )

    @classmethod
    def of_job(cls, job, path):
        """Return the study of a job: the `snakemake` of a script, and a file in its folder."""
        study = cls.from_config(job.config, Path(job.scriptdir).resolve().parents[1])
        return replace(study, head=split_at_folder(job.config, path)[0])

    @property
    def name(self):
        """The study's name, which is its folder's."""
        return self.config["study"]

    @property
    def seed(self):
        """The study's seed."""
        return self.config["seed"]

    @property
    def folder(self):
        """The folder of the study's results."""
        return f"{self.head}{folder_of(self.config)}"

    @property
    def settings(self):
        """The settings that decide what the report says."""
        return {key: value for key, value in self.config.items() if key not in WORKING}

    @cached_property
    def _planned(self):
        """The entries of the data sets with the content that tables of the user's own have now.

        Times of files say little: a table may be replaced by one that is older.
        """
        planned = dict(self.datasets)
        for name in planned:
            for table in self.own_table(name):
                planned[name] = replace(planned[name], content=_content(table))
        return planned

    def raw(self, dataset):
        """Return the part of a data set's entry that decides its raw files, as plain data."""
        spec = asdict(self._planned[dataset])
        # Blank what does not decide the files: an edit of it fetches nothing again.
        words = dict.fromkeys(("title", "task", "reader"), "")
        path = {"path": spec["parameters"]["path"]} if spec["content"] else {}
        return words | {key: spec[key] for key in FETCHED} | {"parameters": path}

    def prepared(self, dataset):
        """Return the part of a data set's entry that decides the prepared data, as plain data.

        The title is its id: readers get the words of `shown`, and an edit of them prepares nothing.
        """
        spec = asdict(self._planned[dataset])
        words = dict.fromkeys(SHOWN, "") | {"title": dataset, "costs": None}
        return spec | words

    @property
    def shown(self):
        """Data set → title, licence and citation for readers."""
        specs = self.datasets.items()
        return {name: {key: getattr(spec, key) for key in SHOWN} for name, spec in specs}

    def _setting(self, key, dataset, default=None):
        """Return a setting for a data set: its own, else that of all data sets."""
        own = self.config.get("by_dataset", {}).get(dataset, {})
        return own.get(key, self.config.get(key, default))

    def budget(self, dataset):
        """Return the budget of the comparison on a data set, `ACQUISITION` or `MEMORY`."""
        return self._setting("budget", dataset, ACQUISITION)

    @property
    def cases(self):
        """The (dataset, costs) pairs in which methods are compared."""
        return [
            (dataset, kind) for dataset in self.datasets for kind in self._setting("costs", dataset)
        ]

    def cases_under(self, budget):
        """Return the cases in which methods are compared by a budget."""
        return [case for case in self.cases if self.budget(case[0]) == budget]

    @property
    def cells(self):
        """The (dataset, costs, method) triples: what is fitted in every run."""
        return [
            (*case, method) for case in self.cases for method in self._setting("methods", case[0])
        ]

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
        per_job = self.config["runs_per_job"]
        return [str(chunk) for chunk in range(-(-self.config["runs"] // per_job))]

    def runs_of(self, chunk):
        """Return the numbers of the runs in a chunk."""
        per_job = self.config["runs_per_job"]
        # Chunks keep their runs when `runs` is raised, so that full ones are not fitted again.
        first = int(chunk) * per_job
        return list(range(first, min(first + per_job, self.config["runs"])))

    def sizes(self, dataset):
        """Return the sizes of a data set's split, as `budgetbench.datasets.split` takes them."""
        sizes = self._setting("split", dataset)
        plain = sizes == "given" or "per_class" in sizes
        return sizes if plain else [sizes[part] for part in ("train", "valid", "test")]

    @property
    def published(self):
        """Files of the published numbers that stand beside the study's own in the report."""
        names = self.config.get("published", [])
        return [place_of(f"{PUBLISHED}/{name}.csv", self.root) for name in names]

    def own_table(self, dataset):
        """Return the user's own csv that a data set is read from: none for all other sources."""
        spec = self.datasets[dataset]
        return [spec.parameters["path"]] if spec.kind == "csv" else []

    def price_list(self, dataset, kind):
        """Return the files that a cost profile is read from: none when it is drawn."""
        if kind != "given":
            return []
        path = self.datasets[dataset].costs
        if path is None:
            raise ConfigError(
                f"{dataset} has no price list for the cost profile 'given'; name a csv file "
                f"(feature, cost) as `costs` of its entry in {self.config['datasets_file']}."
            )
        return [place_of(path, self.root)]

    def price_content(self, dataset, kind):
        """Return the sha256 of the price list that a cost profile is read from, now; else None."""
        return next(map(_content, self.price_list(dataset, kind)), None)

    def unpriced(self, dataset):
        """Return the columns of the user's own table that may have a price, and need none."""
        given = self.datasets[dataset].parameters if self.own_table(dataset) else {}
        others = (given.get("target"), given.get("group"), *given.get("drop", ()))
        return [name for name in others if name is not None]

    def source(self, dataset):
        """Return the source that the prepared data must have, as in `Dataset.source`."""
        return self._planned[dataset].digest

    def methods_of(self, kind):
        """Return the ids of the methods of a kind, `SCHEDULE` or `FIT`."""
        return [name for name, spec in self.methods.items() if spec.get("kind", FIT) == kind]

    def spec(self, method, dataset):
        """Return the specification of a method on a data set: class, parameters, grid, seed.

        With `tries` in the study's settings, a method that has a space has these in place of its
        grid.
        """
        own = self.config.get("by_dataset", {}).get(dataset, {}).get("overrides", {})
        spec = merged(self.methods[method], own.get(method, {}))
        tries = self.config.get("tries")
        tuned = tries is not None and "space" in spec
        keys = ("class", "space" if tuned else "grid", "seed_as")
        decisive = {key: spec[key] for key in keys if key in spec}
        decisive |= {"tries": tries} if tuned else {}
        if tuned and self._goes_on(method, dataset):
            decisive["seconds_of"] = self.config["seconds_of"]
        decisive |= {"refit": True} if self.config.get("refit") else {}
        # This is a parameter of the jobs: what is in it reruns them, what is not does not.
        return _sorted(decisive | {"parameters": spec.get("parameters", {})})

    def _goes_on(self, method, dataset):
        """Return True if a method may use as many seconds as the one that the study names."""
        other = self.config.get("seconds_of")
        return other not in (None, method) and other in self._setting("methods", dataset)

    def seconds_files(self, method, dataset, costs, chunk):
        """Return the points whose seconds a method may use as well: of one file, or none."""
        other = self.spec(method, dataset).get("seconds_of")
        return [] if other is None else [self.points_file(dataset, costs, other, chunk)]

    def beyond_tries(self, points):
        """Return a mask of the operating points that come of seconds left after the tries."""
        if self.config.get("seconds_of") is None:
            return np.zeros(len(points), dtype=bool)
        pairs = points[["dataset", "method"]].drop_duplicates().itertuples(index=False)
        going = {(d, m) for d, m in pairs if "seconds_of" in self.spec(m, d)}
        keys = zip(points["dataset"], points["method"], strict=True)
        return np.array([key in going for key in keys]) & (points["fit"] >= self.config["tries"])

    def sequences(self, method, dataset):
        """Return the names of the sequences of a schedule method on a data set."""
        return [sequence_name(e) for e in self.spec(method, dataset)["parameters"]["sequences"]]


def with_defaults(config, root):
    """Return settings laid over those that every study starts from.

    Snakemake's own `configfile` cannot do this: it leaves the settings of a module as they came.
    """
    folder = Path(root, "config")
    base = read_yaml(folder / "config.yaml")
    if "study" not in config or not config.keys() & {"datasets", "methods"}:
        base = merged(base, read_yaml(folder / "studies" / "default.yaml"))
    return merged(base, config)


def place_of(path, root):
    """Return the place of a file that a configuration names: below the user's folder.

    What is not there is looked for beside the workflow: its own lists, where it is installed.
    """
    there = Path(path).exists() or not (Path(root) / path).exists()
    return str(path) if there else str(Path(root) / path)


def _content(path):
    """Return the sha256 of a file."""
    return content_sha256(Path(path))


def _sorted(value):
    """Return nested dictionaries with their keys in order: reordered lines rerun no job."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return value


def _own(config):
    """Return the settings of each data set in use that has some of its own."""
    by_dataset = config.get("by_dataset", {})
    return [by_dataset[name] for name in config["datasets"] if name in by_dataset]


def _named_methods(config):
    """Return every method that a study names, those of all data sets first."""
    return list(
        dict.fromkeys(
            itertools.chain(config["methods"], *(own.get("methods", ()) for own in _own(config)))
        )
    )


def _check_names(config, registry, root):
    """Refuse unknown names in a study, other than its data sets and methods."""
    overrides = [config.get("overrides", {}), *(own.get("overrides", {}) for own in _own(config))]
    for method in itertools.chain(*overrides):
        known(method, _named_methods(config), "method in overrides", "the study")
    for key in ("by_dataset", "stand_ins"):
        for name in config.get(key, {}):
            registry[name]  # names what is wrong, like the data sets in use
    for shown in (config.get("own_cost", []), *config.get("staircases", {}).values()):
        for method in shown:
            known(method, _named_methods(config), "method in a figure", "the study")
    if config.get("seconds_of") is not None:
        known(config["seconds_of"], _named_methods(config), "method in seconds_of", "the study")
        if config.get("tries") is None:
            raise ConfigError("seconds_of goes on after the tries of a method: set tries too.")
    tables = [path.stem for path in Path(place_of(PUBLISHED, root)).glob("*.csv")]
    for name in config.get("published", []):
        known(name, tables, "published table", PUBLISHED)


def _overridden(methods, overrides):
    """Return specifications of methods with `overrides` laid over them."""
    return {name: merged(spec, overrides.get(name, {})) for name, spec in methods.items()}


def _chosen(config, methods):
    """Return the specifications of a study's methods, its overrides applied."""
    where = config["methods_file"]
    names = _named_methods(config)
    chosen = {name: methods[known(name, methods, "method", where)] for name in names}
    return _overridden(chosen, config.get("overrides", {}))


def _installed(config, specs):
    """Return a configuration without the methods whose package is not installed; it tells why."""
    needs = {name: spec["needs"] for name, spec in specs.items() if "needs" in spec}
    absent = {name for name, needed in needs.items() if importlib.util.find_spec(needed) is None}
    if not absent:
        return config
    told = {
        specs[name]["label"]: f"needs the package {needs[name]}, which is not installed"
        for name in specs
        if name in absent
    }
    if not set(config["methods"]) - absent - {"constant"}:
        each = "; ".join(f"{label} {why}" for label, why in told.items())
        raise ConfigError(f"No method of the study can run: {each}. Install what is needed.")
    by_dataset = {name: _without(own, absent) for name, own in config.get("by_dataset", {}).items()}
    shorter = _without(config, absent) | {"left_out": config.get("left_out", {}) | told}
    return shorter | ({"by_dataset": by_dataset} if by_dataset else {})


def _without(settings, absent):
    """Return settings of a study, or of one of its data sets, without some methods."""
    shorter = dict(settings)
    if "methods" in settings:
        shorter["methods"] = [name for name in settings["methods"] if name not in absent]
    if "overrides" in settings:
        kept = settings["overrides"].items()
        shorter["overrides"] = {name: own for name, own in kept if name not in absent}
    return shorter


def _check_methods(specs, schemas, trust):
    """Refuse specifications that overrides have spoilt."""
    check_schema(specs, schemas / "methods.schema.yaml", "a method with its overrides")
    for name, spec in specs.items():
        if "grid" in spec and spec.get("kind") == SCHEDULE:
            raise ConfigError(
                f"{name} has a grid, which is for methods that one job fits; it is built from "
                "sequences. Make an entry in the methods file for each of its settings."
            )
        if not trust:
            refuse_untrusted(name, spec)
        check_classes(name, spec)
