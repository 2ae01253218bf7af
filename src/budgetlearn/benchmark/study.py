"""A study: what its configuration asks for, checked, and the files that come of it."""

import difflib
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import yaml

from ..datasets.registry import load_registry
from ..exceptions import ConfigError

SCHEDULE = "schedule"  # built from model sequences, by rules of their own
FIT = "fit"  # one job fits and evaluates
PUBLISHED = "resources/published"


def _read_yaml(path):
    path = Path(path)
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist; the configuration names it.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no valid YAML: {error}") from error


def check_schema(config, schema_path, what):
    """Check `config` against a JSON schema, naming every place that disagrees.

    Parameters
    ----------
    config : dict
        What was read.
    schema_path : str or Path
        The schema, in YAML.
    what : str
        How messages name the thing that is checked.

    Raises
    ------
    ConfigError
        With one line a fault: where, what was expected, what came.
    """
    validator = jsonschema.Draft202012Validator(_read_yaml(schema_path))
    faults = sorted(validator.iter_errors(config), key=lambda fault: list(map(str, fault.path)))
    if faults:
        lines = [
            f"  {'.'.join(map(str, fault.path)) or 'top level'}: {fault.message}"
            for fault in faults
        ]
        raise ConfigError(f"{what} does not follow {Path(schema_path).name}:\n" + "\n".join(lines))


def _known(name, names, kind, where):
    if name in names:
        return name
    close = difflib.get_close_matches(name, names, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise ConfigError(f"unknown {kind} {name!r}.{hint} {where} has: {', '.join(sorted(names))}.")


def merged(base, override):
    """Return `base` with `override` laid over it; dictionaries merge, all else replaces."""
    if not (isinstance(base, dict) and isinstance(override, dict)):
        return override
    return {**base, **{key: merged(base.get(key), value) for key, value in override.items()}}


def _sorted(value):
    """Return nested dictionaries with their keys in order: reordered lines rerun no job."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return value


def _check_names(config, registry, root):
    """Refuse what a study names and nobody knows, beside its data sets and methods."""
    for method in config.get("overrides", {}):
        _known(method, config["methods"], "method in overrides", "the study")
    for name in [*config.get("splits", {}), *config.get("stand_ins", {})]:
        registry[name]  # names what is wrong, like the data sets in use
    tables = [path.stem for path in (root / PUBLISHED).glob("*.csv")]
    for name in config.get("published", []):
        _known(name, tables, "published table", PUBLISHED)


def _chosen(config, methods):
    """Return the specifications of a study's methods, its overrides applied."""
    chosen = {}
    for name in config["methods"]:
        entry = methods[_known(name, methods, "method", config["methods_file"])]
        spec = chosen[name] = merged(entry, config.get("overrides", {}).get(name, {}))
        if "grid" in spec and spec.get("kind") == SCHEDULE:
            raise ConfigError(
                f"{name} has a grid, which is for methods that one job fits; it is built from "
                "sequences. Make an entry in the methods file for each of its settings."
            )
    return chosen


@dataclass(frozen=True)
class Study:
    """A checked study configuration.

    Attributes
    ----------
    config : dict
        The study's settings.
    datasets : dict of str to DatasetSpec
        The data sets in use.
    methods : dict of str to dict
        Specifications of the methods in use, the study's overrides applied.
    """

    config: dict
    datasets: dict
    methods: dict

    @classmethod
    def from_config(cls, config, root):
        """Check a configuration and look up what it names.

        Parameters
        ----------
        config : dict
            The settings, as Snakemake read them.
        root : str or Path
            The project's folder.

        Returns
        -------
        Study

        Raises
        ------
        ConfigError
            On a typo, an unknown data set or method, or settings that contradict each other.
        """
        root = Path(root)
        schemas = root / "workflow" / "schemas"
        check_schema(config, schemas / "config.schema.yaml", "the study configuration")
        registry = load_registry(root / config["datasets_file"])
        methods = _read_yaml(root / config["methods_file"])
        check_schema(methods, schemas / "methods.schema.yaml", config["methods_file"])
        _check_names(config, registry, root)
        chosen = _chosen(config, methods)
        check_schema(chosen, schemas / "methods.schema.yaml", "a method with its overrides")
        return cls(dict(config), {name: registry[name] for name in config["datasets"]}, chosen)

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
        """Where the study's results are."""
        return f"results/{self.name}"

    @property
    def cases(self):
        """The (dataset, costs) pairs that are compared."""
        return [(dataset, kind) for dataset in self.datasets for kind in self.config["costs"]]

    @property
    def chunks(self):
        """Indices of the chunks of runs, as strings."""
        per_job = self.config["runs_per_job"]
        return [str(chunk) for chunk in range(-(-self.config["runs"] // per_job))]

    def runs_of(self, chunk):
        """Return the numbers of the runs in a chunk."""
        per_job = self.config["runs_per_job"]
        first = int(chunk) * per_job
        return list(range(first, min(first + per_job, self.config["runs"])))

    def sizes(self, dataset):
        """Return the sizes of train, validation and test part of a data set, or "given"."""
        sizes = self.config.get("splits", {}).get(dataset, self.config["split"])
        return sizes if sizes == "given" else [sizes[part] for part in ("train", "valid", "test")]

    @property
    def published(self):
        """Files of the published numbers that stand beside the study's own in the report."""
        return [f"{PUBLISHED}/{name}.csv" for name in self.config.get("published", [])]

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
        return [path]

    def methods_of(self, kind):
        """Return the ids of the methods of a kind, `SCHEDULE` or `FIT`."""
        return [name for name, spec in self.methods.items() if spec.get("kind", FIT) == kind]

    def spec(self, method):
        """Return what decides a method's results: class, parameters and grid, not its label."""
        spec = self.methods[method]
        decisive = {"class": spec["class"], "parameters": spec.get("parameters", {})}
        return _sorted(decisive | ({"grid": spec["grid"]} if "grid" in spec else {}))

    def sequences(self, method):
        """Return the names of the sequences of a schedule method."""
        return list(self.methods[method]["parameters"]["sequences"])
