"""What operating points were made of: hashes of the data, the prices and the method.

They stay with the points, so that whoever reads them later can tell whether the table, the price
list and the method that are there now are those that were measured.
"""

import hashlib
import json


def sources_of_run(method, spec, run):
    """Return what the operating points of a method in a run are made of.

    Parameters
    ----------
    method : str
        Id of the method.
    spec : dict
        Its specification, as `Study.spec` returns it.
    run : Run
        Data and prices; of a run that is only planned: dataset, costs_kind, source, costs and
        study_seed.

    Returns
    -------
    dict of str to str
        Name of a source to its hash. Prices that are drawn for each run are none.
    """
    found = {
        f"the data of {run.dataset}": run.source,
        f"the settings of {method} on {run.dataset}": _digest([spec, run.study_seed]),
    }
    if run.costs_kind != "random":
        found[f"the {run.costs_kind} prices of {run.dataset}"] = _price_digest(run.costs)
    return found


def _price_digest(costs):
    groups = (costs.group_of(feature) for feature in range(costs.n_features))
    shared = [(members.tolist(), charge) for members, charge in groups]
    return _digest([costs.costs.tolist(), shared])


def _digest(content):
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
