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
        With `grid`; or with `space` and `tries`: how many models may be fitted in a run. A space is
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


def models_fitted(model):
    """Return how many models one fit of an estimator came to, before any was left out.

    An estimator tells it as `n_models_fitted_`; msB's are the models of its sequences, those of an
    L1 path its steps, those of a list of alphas one for each; anything else is one.
    """
    told = getattr(model, "n_models_fitted_", None)
    if told is not None:
        return int(told)
    for name in ("sequences_", "subsets_", "cost_weights_"):
        parts = getattr(model, name, None)
        if parts is not None:
            return sum(map(len, parts.values())) if isinstance(parts, dict) else len(parts)
    if hasattr(model, "path_"):
        return len(model.path_.penalties)
    alpha = getattr(model, "alpha", None)
    return len(alpha) if isinstance(alpha, (list, tuple)) else 1
