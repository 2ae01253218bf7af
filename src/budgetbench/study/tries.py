"""The tries of a method: its own settings first, then others drawn from its space."""

import numpy as np
from sklearn.model_selection import ParameterGrid

from budgetlearn.validation import derive_seed

from . import records

# A method of fleeting fits does not go on for ever.
MOST_MORE = 20


def settings_of(method, spec, study_seed, dataset):
    """Return the settings to fit a method with, one after another, until its tries are spent.

    `spec` has `grid`; or `space` and `tries`: how many settings are tried in a run, each with all
    models that it comes to (a path, tradeoffs, sequences). A space is {parameter: values to draw
    from, or {low, high, log, integer}}, or a list of such spaces, each as likely. All runs on a
    data set try the same settings.

    With a space nothing is changed at first, then come `tries` − 1 draws, those that come again
    left out. With `seconds_of` too there are `MOST_MORE` times as many draws, of which a run tries
    as many as its seconds allow.
    """
    if "space" not in spec:
        return list(ParameterGrid(spec.get("grid", {})))
    spaces = spec["space"] if isinstance(spec["space"], list) else [spec["space"]]
    # By data set and method alone: runs differ in their data, not in the settings tried.
    random = np.random.default_rng(derive_seed(study_seed, dataset, method, "space"))
    settings = [{}]
    more = MOST_MORE if "seconds_of" in spec else 1
    for _ in range(spec["tries"] * more - 1):
        space = spaces[random.integers(len(spaces))]
        # Sorted by a parameter's own name: neither the order of lines in the methods file nor the
        # group that a parameter belongs to changes the draws.
        names = sorted(space, key=lambda name: name.rpartition("__")[2])
        drawn = {name: _drawn(space[name], random) for name in names}
        if drawn not in settings:
            settings.append(drawn)
    return settings


def _drawn(values, random):
    """Return one of the values of a list, or a number of a range."""
    if isinstance(values, list):
        return values[random.integers(len(values))]
    low, high = values["low"], values["high"]
    if values.get("log"):
        number = float(np.exp(random.uniform(np.log(low), np.log(high))))
    else:
        number = float(random.uniform(low, high))
    # Three digits, so that a setting can be written into a file and is the same again.
    return round(number) if values.get("integer") else float(f"{number:.3g}")


def with_seconds(spec, run, files):
    """Return a specification with the processor seconds that a run may use, where it asks for them.

    `files` are the operating points of the method whose seconds they are, as `Study.seconds_files`
    names them. `seconds` is none where that method has no result.
    """
    if not files:
        return spec
    points = records.read(files)
    fits = points[points["run"] == run].drop_duplicates("fit")
    return {**spec, "seconds": float(fits["processor_seconds"].sum())}
