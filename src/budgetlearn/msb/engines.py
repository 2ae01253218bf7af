"""What an engine of msB takes."""

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags


def takes_missing(engine):
    """Return whether an engine can be fitted on missing values.

    A pipeline can where each of its steps does, up to the first that fills them in; it does not
    say so in its tags.

    Parameters
    ----------
    engine : estimator
        Unfitted.

    Returns
    -------
    bool
    """
    if not isinstance(engine, Pipeline):
        return get_tags(engine).input_tags.allow_nan
    for _, step in engine.steps:
        if step in (None, "passthrough"):
            continue
        if not takes_missing(step):
            return False
        if type(step).__module__.startswith("sklearn.impute"):
            return True
    return True
