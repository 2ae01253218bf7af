"""Configuration files: read, laid over each other, and checked against their schemas."""

import difflib
import re
from pathlib import Path

import jsonschema

from budgetlearn.exceptions import ConfigError
from budgetlearn.files import read_yaml

_WORDS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")


def check_schema(config, schema_path, what):
    """Check `config` against a JSON schema, naming every place that disagrees.

    A `ConfigError` has one line a fault: where, what was expected, what came.
    """
    # All faults at once: one call, one correction.
    validator = jsonschema.Draft202012Validator(read_yaml(schema_path))
    faults = sorted(validator.iter_errors(config), key=lambda fault: list(map(str, fault.path)))
    if faults:
        lines = [
            f"  {'.'.join(map(str, fault.path)) or 'top level'}: {_message(fault)}"
            for fault in faults
        ]
        raise ConfigError(f"{what} does not follow {Path(schema_path).name}:\n" + "\n".join(lines))


def _message(fault):
    needed = fault.validator_value if fault.validator == "contains" else {}
    if "const" in needed:
        return f"{fault.instance} lacks {needed['const']!r}, which every study has: add it."
    return fault.message


def typed(config, schema_path):
    """Return settings whose values have the types that the schema asks for, where text can say so.

    Snakemake hands over what stands behind ``--config`` as text, but for numbers: ``offline=true``,
    ``time_limit=null``, ``datasets=wine`` and ``datasets=[wine,digits]`` mean what they mean in a
    file. Text that stays as wrong as it came is left to `check_schema`.
    """
    schema = read_yaml(schema_path)
    properties, defined = schema["properties"], schema["$defs"]
    known = {
        key: defined[value["$ref"].rpartition("/")[2]] if "$ref" in value else value
        for key, value in properties.items()
    }
    return {key: _typed(value, known.get(key, {})) for key, value in config.items()}


def _typed(value, schema):
    kinds = schema.get("type", "object")
    # A title "2024" stays text, though it reads as a number.
    if "string" in kinds and not (value == "null" and "null" in kinds):
        return value
    if kinds == "array" and isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return _plain(value)


def _plain(value):
    """Return `value` with text that reads as a number, true, false or null replaced by it."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if not isinstance(value, str):
        return value
    if _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return _WORDS.get(value.lower(), value)


def known(name, names, kind, where):
    """Return `name` if it is among `names`, else raise `ConfigError` with the closest of them."""
    if name in names:
        return name
    raise ConfigError(
        f"unknown {kind} {name!r}.{close_to(name, names)} {where} has: {', '.join(sorted(names))}."
    )


def close_to(name, names):
    """Return " Did you mean …?" with the names closest to `name`, "" if none comes close."""
    close = difflib.get_close_matches(name, names, n=3)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def merged(base, override):
    """Return `base` with `override` laid over it; dictionaries merge, all else replaces."""
    if not (isinstance(base, dict) and isinstance(override, dict)):
        return override
    return {**base, **{key: merged(base.get(key), value) for key, value in override.items()}}
