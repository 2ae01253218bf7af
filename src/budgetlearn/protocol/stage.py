"""`Stage`, one operating point applied to examples, and what an estimator says it can do."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import Tags

EVERYTHING = frozenset({"output", "probabilities", "acquired", "estimate"})


@dataclass
class Stage:
    """One operating point, applied to examples.

    Attributes
    ----------
    setting : dict
        Sets it apart from the other stages, as {"trees": 3}.
    output : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
        Class labels or numbers.
    probabilities : ndarray of shape (n_samples, n_classes) or None
        Of the classes; None in regression.
    acquired : ndarray of bool of shape (n_samples, n_features), or None
        Which features each prediction looked at.
    nodes : float
        Tree nodes of the model, NaN where it has none.
    estimate : ndarray of shape (n_samples,) or None
        Estimated probability that each prediction is right, where the method has one.
    cost : ndarray of shape (n_samples,) or None
        Acquisition cost; set by the protocol.
    incremental : bool
        Whether the work of the stages before it is part of its own, as in a prefix of a forest.
    facts : dict
        What else a study may record of the stage.
    """

    setting: dict
    output: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    acquired: np.ndarray | None = None
    nodes: float = np.nan
    estimate: np.ndarray | None = None
    cost: np.ndarray | None = None
    incremental: bool = False
    facts: dict = field(default_factory=dict)


@dataclass(slots=True)
class BudgetedTags(Tags):
    """Tags of scikit-learn, and what the estimator can do under a budget.

    Attributes
    ----------
    mean_budget : bool
        `budget`: choose the operating point by its mean cost on validation data.
    hard_cap : bool
        `max_cost`: no example pays more.
    lazy : bool
        `predict_acquiring` and `session`: features are asked for when they are needed.
    groups : bool
        Charges that several features share change what is acquired, beside being paid once.
    sample_weight : bool
        `fit` takes weights of the examples.
    chooses_on_validation : bool
        `fit` uses validation data to choose, not only to measure.
    ranking : bool
        Gives class probabilities that rank documents.
    """

    mean_budget: bool = True
    hard_cap: bool = True
    lazy: bool = True
    groups: bool = False
    sample_weight: bool = False
    chooses_on_validation: bool = False
    ranking: bool = False
