"""From a method's entry in the configuration to an estimator."""

import importlib
import inspect
from contextlib import suppress

from budgetlearn.exceptions import ConfigError


def resolve(name):
    """Return the object that a dotted `name` such as "package.module.Class" stands for."""
    module, _, attribute = name.rpartition(".")
    try:
        # The import runs the module; `refuse_untrusted` comes first where a study is a stranger's.
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module of the user's own may raise anything while it is imported
        raise ConfigError(
            f"{name!r} is not an importable class ({type(error).__name__}: {error}). "
            "Write it as package.module.Class; a module of your own must lie in the folder that "
            "methods_path names or beside the Snakefile, or be installed."
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
    """Return the name of a model sequence, after which its files are called."""
    if isinstance(entry, str):
        return entry
    return entry.get("name", entry["class"].rpartition(".")[2].lower())


def settings_tried(spec):
    """Return the settings among which validation data choose, by parameter."""
    defaults = {}
    with suppress(ConfigError):
        parameters = inspect.signature(resolve(spec["class"])).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}
    spaces = spec.get("space", [])
    drawn = [
        {n: f"{v['low']:g} to {v['high']:g}" if isinstance(v, dict) else v for n, v in one.items()}
        for one in (spaces if isinstance(spaces, list) else [spaces])
    ]
    # The first setting of a space is the method's own; lists in it are one value each.
    every = defaults | (spec.get("parameters") or {}) | ({} if drawn else spec.get("grid") or {})
    tried = {name: list(v) for name, v in every.items() if isinstance(v, (list, tuple))}
    return tried | ({"drawn from": drawn} if drawn else {})


def _value(value):
    """Return a parameter, building nested estimators given as {class: …, parameters: …}."""
    if isinstance(value, dict) and "class" in value:
        return build(value)
    return [_value(item) for item in value] if isinstance(value, list) else value


def _class(name, asked):
    """Return a class and its parameters by its signature; refuse others that are asked for."""
    cls = resolve(name)
    if not (inspect.isclass(cls) and (hasattr(cls, "get_params") or hasattr(cls, "subsets"))):
        raise ConfigError(
            f"{name} is neither an estimator (a class with `get_params` and `fit`) nor a model "
            "sequence (one with `subsets`)."
        )
    accepted = inspect.signature(cls).parameters
    unknown = sorted(one for one in asked if one.partition("__")[0] not in accepted)
    if unknown:
        known = ", ".join(accepted)
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has {known}.")
    return cls, accepted


def check_parameters(spec):
    """Refuse names in parameters, grids and spaces that a class does not take."""
    for part in nested(spec):
        space = part.get("space")
        tried = [part.get("parameters"), part.get("grid")]
        tried += space if isinstance(space, list) else [space]
        asked = {name for one in tried for name in one or {}}
        if asked and isinstance(part.get("class"), str):
            _class(part["class"], asked)


def build(spec, **extra):
    """Build an estimator from its specification; `extra` are set where the class has them.

    `parameters` may hold specifications again, and `growth__max_depth` names a parameter of the
    parameter `growth`. Where these do not say what counts, `scoring` of the specification does.
    """
    parameters = {name: _value(value) for name, value in (spec.get("parameters") or {}).items()}
    cls, accepted = _class(spec["class"], parameters)
    if "scoring" in spec and "scoring" in accepted:
        parameters = {"scoring": spec["scoring"]} | parameters
    # Costs, seed and threads are the run's: an entry of the methods file cannot change them.
    parameters.update({name: value for name, value in extra.items() if name in accepted})
    own = {name: value for name, value in parameters.items() if name in accepted}
    inner = {name: value for name, value in parameters.items() if name not in accepted}
    return cls(**own).set_params(**inner) if inner else cls(**own)
