"""From a method's entry in the configuration to an estimator."""

import importlib
import inspect
import numbers
import re
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
    """Return the settings among which validation data choose: the grid, and parameters in lists.

    A space stands in place of the grid, under "drawn from".
    """
    defaults = {}
    with suppress(ConfigError):
        parameters = inspect.signature(resolve(spec["class"])).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}
    spaces = spec.get("space", [])
    drawn = [
        {name: _spanned(values) for name, values in space.items()}
        for space in (spaces if isinstance(spaces, list) else [spaces])
    ]
    # The first setting of a space is the method's own; lists in it are one value each.
    every = defaults | (spec.get("parameters") or {}) | ({} if drawn else spec.get("grid") or {})
    tried = {name: list(v) for name, v in every.items() if isinstance(v, (list, tuple))}
    return tried | ({"drawn from": drawn} if drawn else {})


def _spanned(values):
    return f"{values['low']:g} to {values['high']:g}" if isinstance(values, dict) else values


def _value(value):
    """Return a parameter, building nested estimators given as {class: …, parameters: …}."""
    if isinstance(value, dict) and "class" in value:
        return build(value)
    if isinstance(value, list):
        return [_value(item) for item in value]
    return value


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
    """Refuse names and values in parameters, grids and spaces that a class does not take."""
    for part in nested(spec):
        space = part.get("space")
        tried = [part.get("grid"), *(space if isinstance(space, list) else [space])]
        tried += [{name: [value] for name, value in (part.get("parameters") or {}).items()}]
        asked = [pair for one in tried for pair in (one or {}).items()]
        if asked and isinstance(part.get("class"), str):
            cls, accepted = _class(part["class"], {name for name, _ in asked})
            for name, values in asked:
                if name in accepted and isinstance(values, list):  # not from one number to another
                    _check_values(cls, name, accepted[name].default, values)


# What a docstring says of a parameter that is of plain types, such as "sequence of int or None".
_PLAIN = re.compile(r"(?:(?:sequence|list) of )?(?:int|float|bool|str)")
_TYPES = {"int": numbers.Integral, "float": numbers.Real, "bool": bool, "str": str}


def _check_values(cls, name, default, values):
    """Refuse values of other types than a docstring says; it may say too little to tell."""
    found = re.search(rf"^ *{name} : (.*?)(?:,? default|, optional|$)", cls.__doc__ or "", re.M)
    kinds = found[1].removesuffix(" or None").split(" or ") if found else []
    if not kinds or not all(map(_PLAIN.fullmatch, kinds)):
        return
    for value in values:
        if value not in (None, default) and not any(_is_of(value, kind) for kind in kinds):
            raise ConfigError(f"{cls.__name__} takes {found[1]} for {name}, not {value!r}.")


def _is_of(value, kind):
    *several, single = kind.split(" of ")
    if several:
        return isinstance(value, list) and all(_is_of(item, single) for item in value)
    return isinstance(value, _TYPES[single]) and isinstance(value, bool) == (single == "bool")


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
