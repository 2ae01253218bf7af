"""How a method spends its tries: its own settings first, then others drawn from its space."""

import numpy as np
from sklearn.model_selection import ParameterGrid

from .._validation import derive_seed


def settings_of(method, spec, study_seed, dataset):
    """Return the settings to fit a method with, one after another, until its tries are spent.

    Parameters
    ----------
    method : str
        Id of the method.
    spec : dict
        With `grid`; or with `space` and `tries`: how many settings are tried in a run, each with
        all models that it comes to (a path, tradeoffs, sequences). A space is
        {parameter: values to draw from, or {low, high, log, integer}}, or a list of such spaces,
        each as likely.
    study_seed : int
        The study's seed.
    dataset : str
        Id of the data set. All runs on it try the same settings.

    Returns
    -------
    list of dict
        With a space: nothing changed at first, then `tries` − 1 draws, those that come again left
        out.
    """
    if "space" not in spec:
        return list(ParameterGrid(spec.get("grid", {})))
    spaces = spec["space"] if isinstance(spec["space"], list) else [spec["space"]]
    random = np.random.default_rng(derive_seed(study_seed, dataset, method, "space"))
    settings = [{}]
    for _ in range(spec["tries"] - 1):
        space = spaces[random.integers(len(spaces))]
        drawn = {name: _drawn(space[name], random) for name in sorted(space)}
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
    return round(number) if values.get("integer") else float(f"{number:.3g}")
