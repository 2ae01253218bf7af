"""Build estimators from the entries of the methods file."""

import importlib
import inspect
from contextlib import suppress

from budgetlearn.exceptions import ConfigError


def resolve(name):
    """Import the object with a dotted `name` such as "package.module.Class"."""
    module, _, attribute = name.rpartition(".")
    try:
        # The import runs the module, so a stranger's study is checked by `refuse_untrusted` before.
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # the import of a user's module may raise anything
        raise ConfigError(
            f"{name!r} is not an importable class ({type(error).__name__}: {error}). "
            "Write it as package.module.Class. Put a module of your own into the folder "
            "methods_path or beside the Snakefile, or install it."
        ) from error


def nested(spec):
    """Yield every dictionary in a specification, itself first."""
    if isinstance(spec, dict):
        yield spec
        spec = list(spec.values())
    if isinstance(spec, list):
        for value in spec:
            yield from nested(value)


def classes_of(spec):
    """Yield the dotted name of every class in a specification, nested ones included."""
    return (part["class"] for part in nested(spec) if isinstance(part.get("class"), str))


def sequence_name(entry):
    """Return the name of a model sequence, which is also used for its files."""
    if isinstance(entry, str):
        return entry
    return entry.get("name", entry["class"].rpartition(".")[2].lower())


def settings_tried(spec):
    """Return {parameter: values} of all settings among which validation data choose."""
    defaults = {}
    with suppress(ConfigError):
        parameters = inspect.signature(resolve(spec["class"])).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}
    spaces = spec.get("space", [])
    drawn = [
        {n: f"{v['low']:g} to {v['high']:g}" if isinstance(v, dict) else v for n, v in one.items()}
        for one in (spaces if isinstance(spaces, list) else [spaces])
    ]
    # In a study with tries, a method's space replaces its grid.
    every = defaults | (spec.get("parameters") or {}) | ({} if drawn else spec.get("grid") or {})
    tried = {name: list(v) for name, v in every.items() if isinstance(v, (list, tuple))}
    return tried | ({"drawn from": drawn} if drawn else {})


def _value(value):
    """Return a parameter's value, building nested estimators from {class: …, parameters: …}."""
    if isinstance(value, dict) and "class" in value:
        return build(value)
    return [_value(item) for item in value] if isinstance(value, list) else value


def _class(name, asked):
    """Return a class and the parameters of its signature; refuse other names in `asked`."""
    cls = resolve(name)
    if not (inspect.isclass(cls) and (hasattr(cls, "get_params") or hasattr(cls, "subsets"))):
        what = f"{name} is neither an estimator (a class with `get_params` and `fit`)"
        raise ConfigError(f"{what} nor a model sequence (a class with `subsets`).")
    accepted = inspect.signature(cls).parameters
    unknown = sorted(one for one in asked if one.partition("__")[0] not in accepted)
    if unknown:
        known = ", ".join(accepted)
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has {known}.")
    return cls, accepted


def check_parameters(spec):
    """Refuse names in parameters, grids and spaces that are no parameters of the class."""
    for part in nested(spec):
        space = part.get("space")
        tried = [part.get("parameters"), part.get("grid")]
        tried += space if isinstance(space, list) else [space]
        asked = {name for one in tried for name in one or {}}
        if asked and isinstance(part.get("class"), str):
            _class(part["class"], asked)


def build(spec, **extra):
    """Build an estimator from its specification; `extra` are parameters set if the class has them.

    `parameters` may contain nested specifications, and `growth__max_depth` sets a parameter of the
    parameter `growth`. The specification's `scoring` is used if `parameters` have none.
    """
    parameters = {name: _value(value) for name, value in (spec.get("parameters") or {}).items()}
    cls, accepted = _class(spec["class"], parameters)
    if "scoring" in spec and "scoring" in accepted:
        parameters = {"scoring": spec["scoring"]} | parameters
    # Last, because costs, seed and threads belong to the run, not to the methods file.
    parameters.update({name: value for name, value in extra.items() if name in accepted})
    own = {name: value for name, value in parameters.items() if name in accepted}
    inner = {name: value for name, value in parameters.items() if name not in accepted}
    return cls(**own).set_params(**inner) if inner else cls(**own)
