"""Candidates for operating points of a cascade, judged out of fold, and the best at each cost."""

from dataclasses import dataclass

import numpy as np

from ..curves import pareto_indices
from .cascade_calibration import fit_temperature, with_temperature
from .cascade_exits import TRADEOFFS, exit_stages, exit_thresholds


@dataclass(frozen=True, eq=False)
class Cascade:
    """One order of purchase with the models of its stages.

    Attributes
    ----------
    name : str
        The order.
    stages : tuple of tuple of int
        Features bought up to each stage, in the order of purchase.
    costs : ndarray of shape (n_stages,)
        What they cost.
    kinds : tuple of str
        Models that are averaged at each stage.
    temperatures : ndarray of shape (n_stages,) or None
        Of the averaged probabilities; None in regression.
    """

    name: str
    stages: tuple
    costs: np.ndarray
    kinds: tuple
    temperatures: np.ndarray | None

    @property
    def change_kind(self):
        """In regression, the models of how much the last stage would change a prediction."""
        return f"change by {self.name}"

    def model_keys(self):
        """Return (kind, ascending features) of every model that the stages may ask."""
        kinds = self.kinds if self.temperatures is not None else (*self.kinds, self.change_kind)
        return [(kind, ascending(features)) for features in self.stages for kind in kinds]


def ascending(features):
    """Return a set of features in the form that models are known by."""
    return tuple(sorted(features))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cascade with its exits: one possible operating point.

    Attributes
    ----------
    cascade : Cascade
        What is bought and who predicts.
    thresholds : ndarray of shape (n_stages,)
        Confidence at which a stage stops.
    tradeoff : float
        The λ that the thresholds are best for; NaN where all examples stop at one stage.
    cost : float
        Out of fold, mean over the examples.
    score : float
        What is expected out of fold: the score of the best-informed stage less the expected losses
        against it. Candidates are compared by it.
    observed, observed_se : float
        What was scored out of fold by the true targets, and its standard error.
    shares : ndarray of shape (n_stages,)
        Share of the examples that stop at each stage, out of fold.
    """

    cascade: Cascade
    thresholds: np.ndarray
    tradeoff: float
    cost: float
    score: float
    observed: float
    observed_se: float
    shares: np.ndarray

    @property
    def last_stage(self):
        """The last stage that an example can come to."""
        return int(np.flatnonzero(self.thresholds == -np.inf)[0])


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of each example at each stage of a cascade.

    Attributes
    ----------
    confidence : ndarray of shape (n_stages, n_samples)
        Larger is surer.
    expected_losses : ndarray of shape (n_stages, n_samples)
        What stopping there loses against the best-informed stage, as far as that one can tell.
    scores : ndarray of shape (n_stages, n_samples)
        What stopping there scores by the true targets.
    best_score : float
        Mean score of the best-informed stage by the true targets.
    """

    confidence: np.ndarray
    expected_losses: np.ndarray
    scores: np.ndarray
    best_score: float


def calibrated(probabilities, labels):
    """Return (temperatures, calibrated probabilities) of stages.

    Parameters
    ----------
    probabilities : ndarray of shape (n_stages, n_samples, n_classes)
        Out of fold.
    labels : ndarray of int of shape (n_samples,)
        True classes.

    Returns
    -------
    temperatures : ndarray of shape (n_stages,)
    probabilities : ndarray of shape (n_stages, n_samples, n_classes)
    """
    temperatures = np.array([fit_temperature(stage, labels) for stage in probabilities])
    stages = zip(probabilities, temperatures, strict=True)
    return temperatures, np.array([with_temperature(*stage) for stage in stages])


def class_evidence(probabilities, labels, reference):
    """Return the `Evidence` of calibrated out-of-fold probabilities: the score is accuracy.

    Whether one label is right is a coin thrown once; what the best-informed stage thinks of the
    label is what that coin shows on average. So a stage is expected to lose (the reference
    probability of the reference label) - (the reference probability of its own): thresholds, and
    the choice among candidates, follow chance less.

    Parameters
    ----------
    probabilities : ndarray of shape (n_stages, n_samples, n_classes)
        Calibrated.
    labels : ndarray of int of shape (n_samples,)
        True classes.
    reference : ndarray of shape (n_samples, n_classes)
        Calibrated probabilities of the stage that knows most, the same for all cascades that are
        to be compared.

    Returns
    -------
    Evidence
    """
    guessed = probabilities.argmax(axis=2)
    losses = reference.max(axis=1) - reference[np.arange(labels.size), guessed]
    right = (guessed == labels).astype(np.float64)
    best = float((reference.argmax(axis=1) == labels).mean())
    return Evidence(probabilities.max(axis=2), losses, right, best)


def number_evidence(predictions, changes, targets, reference):
    """Return the `Evidence` of out-of-fold numbers: the score is R².

    A stage is expected to lose what the best-informed stage would gain on it: (reference - its
    own prediction)², in variances of the target. How much that is has to be foretold from the
    features bought so far.

    Parameters
    ----------
    predictions : ndarray of shape (n_stages, n_samples)
        Out of fold.
    changes : ndarray of shape (n_stages, n_samples)
        The changes that models foretell, out of fold.
    targets : ndarray of shape (n_samples,)
        True numbers.
    reference : ndarray of shape (n_samples,)
        Predictions of the stage that knows most, the same for all cascades that are to be compared.

    Returns
    -------
    Evidence
    """
    variance = targets.var() or 1.0
    losses = (reference - predictions) ** 2 / variance
    scores = 1.0 - (predictions - targets) ** 2 / variance
    best = 1.0 - float(np.mean((reference - targets) ** 2) / variance)
    return Evidence(-changes, losses, scores, best)


def candidates(cascade, evidence, full_cost):
    """Return the candidates of one cascade: all tradeoffs, and "always stop at stage s".

    Parameters
    ----------
    cascade : Cascade
        Stages and their costs.
    evidence : Evidence
        Out of fold.
    full_cost : float
        What all features cost; the tradeoffs are about shares of it.

    Returns
    -------
    list of Candidate
    """
    shares = cascade.costs / (full_cost or 1.0)
    paths = exit_thresholds(evidence.confidence, evidence.expected_losses, shares)
    settings = list(zip(paths, TRADEOFFS, strict=True))
    n_stages = cascade.costs.size
    always = np.where(np.eye(n_stages, dtype=bool), -np.inf, np.inf)
    settings += [(thresholds, np.nan) for thresholds in always]
    return [_judged(cascade, evidence, thresholds, tradeoff) for thresholds, tradeoff in settings]


def _judged(cascade, evidence, thresholds, tradeoff):
    stops = exit_stages(evidence.confidence, thresholds)
    rows = np.arange(stops.size)
    scores = evidence.scores[stops, rows]
    return Candidate(
        cascade,
        thresholds,
        float(tradeoff),
        cost=float(cascade.costs[stops].mean()),
        score=evidence.best_score - float(evidence.expected_losses[stops, rows].mean()),
        observed=float(scores.mean()),
        observed_se=float(scores.std() / np.sqrt(scores.size)),
        shares=np.bincount(stops, minlength=thresholds.size) / stops.size,
    )


def best_at_each_cost(pool):
    """Return the candidates that are expected to score more than every cheaper one, by cost.

    Parameters
    ----------
    pool : list of Candidate
        Of any number of cascades.

    Returns
    -------
    list of Candidate
    """
    kept = pareto_indices([each.cost for each in pool], [each.score for each in pool])
    return [pool[i] for i in kept]
