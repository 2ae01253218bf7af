"""Candidates for operating points of a cascade, judged out of fold, and the best at each cost."""

from dataclasses import dataclass, replace

import numpy as np

from ..curves import pareto_indices
from .temperature import fit_temperature, with_temperature
from .thresholds import TRADEOFFS, exit_stages, exit_thresholds

# Sums of equal scores differ in the last bits.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cascade with its exits: one possible operating point.

    Attributes
    ----------
    cascade : Cascade or DynamicOrder
        What is acquired and who predicts.
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
        What was scored out of fold by the true targets, and its standard error; of its gain over
        the constant, what a choice of orders inside the folds confirms.
    n_features : float
        Mean number of features acquired, out of fold.
    """

    cascade: object
    thresholds: np.ndarray
    tradeoff: float
    cost: float
    score: float
    observed: float
    observed_se: float
    n_features: float

    @property
    def last_stage(self):
        """The last stage that an example can come to."""
        return int(np.flatnonzero(self.thresholds == -np.inf)[0])


@dataclass(frozen=True, eq=False)
class Trace:
    """Out-of-fold acquisitions and predictions of the training examples on a route.

    Attributes
    ----------
    route : Cascade or DynamicOrder
        Its models are fitted on all examples.
    predictions : ndarray of shape (n_stages, n_samples, n_outputs)
        At the end of each stage.
    spent, n_acquired : ndarray that broadcasts to (n_stages, n_samples)
        Cost, and number of features acquired.
    remaining : ndarray of shape (n_stages, n_samples) or None
        In regression, the loss that the route itself expects there.
    """

    route: object
    predictions: np.ndarray
    spent: np.ndarray
    n_acquired: np.ndarray
    remaining: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Evidence:
    """Confidence, losses and costs of each example at each stage of a cascade.

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
    spent, n_acquired : ndarray that broadcasts to (n_stages, n_samples)
        Cost, and number of features acquired.
    """

    confidence: np.ndarray
    expected_losses: np.ndarray
    scores: np.ndarray
    best_score: float
    spent: np.ndarray
    n_acquired: np.ndarray


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
    # One temperature a stage: later stages are surer, and often too sure.
    temperatures = np.array([fit_temperature(stage, labels) for stage in probabilities])
    stages = zip(probabilities, temperatures, strict=True)
    return temperatures, np.array([with_temperature(*stage) for stage in stages])


def class_evidence(probabilities, labels, reference, spent, n_acquired):
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
    spent, n_acquired : ndarray that broadcasts to (n_stages, n_samples)
        Cost, and number of features acquired.
    """
    guessed = probabilities.argmax(axis=2)
    # E[loss] = p*(y*) − p*(y_s): p* is the reference, y* its label, y_s the stage's own.
    losses = reference.max(axis=1) - reference[np.arange(labels.size), guessed]
    right = (guessed == labels).astype(np.float64)
    best = float((reference.argmax(axis=1) == labels).mean())
    return Evidence(probabilities.max(axis=2), losses, right, best, spent, n_acquired)


def number_evidence(predictions, changes, targets, reference, spent, n_acquired):
    """Return the `Evidence` of out-of-fold numbers: the score is R².

    A stage is expected to lose what the best-informed stage would gain on it: (reference - its
    own prediction)², in variances of the target. How much that is has to be predicted from the
    features acquired so far.

    Parameters
    ----------
    predictions : ndarray of shape (n_stages, n_samples)
        Out of fold.
    changes : ndarray of shape (n_stages, n_samples)
        The changes that models predict, out of fold.
    targets : ndarray of shape (n_samples,)
        True numbers.
    reference : ndarray of shape (n_samples,)
        Predictions of the stage that knows most, the same for all cascades that are to be compared.
    spent, n_acquired : ndarray that broadcasts to (n_stages, n_samples)
        Cost, and number of features acquired.
    """
    # R² counts in variances of the target; equal targets have none.
    variance = targets.var() or 1.0
    losses = (reference - predictions) ** 2 / variance
    scores = 1.0 - (predictions - targets) ** 2 / variance
    best = 1.0 - float(np.mean((reference - targets) ** 2) / variance)
    return Evidence(-changes, losses, scores, best, spent, n_acquired)


def candidates(cascade, evidence, full_cost):
    """Return the candidates of one cascade: all tradeoffs, and "always stop at stage s".

    `cascade`: what is acquired and who predicts; `full_cost`: what all features cost; the
    tradeoffs are about shares of it.
    """
    # λ is about shares of the full cost, so it means the same in every currency.
    shares = evidence.spent / (full_cost or 1.0)
    paths = exit_thresholds(evidence.confidence, evidence.expected_losses, shares)
    settings = list(zip(paths, TRADEOFFS, strict=True))
    # Candidate s stops everything at stage s: msB's kind of model, and at the last a plain one.
    always = np.where(np.eye(len(evidence.confidence), dtype=bool), -np.inf, np.inf)
    settings += [(thresholds, np.nan) for thresholds in always]
    return [_judged(cascade, evidence, thresholds, tradeoff) for thresholds, tradeoff in settings]


def _judged(cascade, evidence, thresholds, tradeoff):
    stops = exit_stages(evidence.confidence, thresholds)
    rows = np.arange(stops.size)

    def at_stop(what):
        return np.broadcast_to(what, evidence.confidence.shape)[stops, rows]

    scores = at_stop(evidence.scores)
    return Candidate(
        cascade,
        thresholds,
        float(tradeoff),
        cost=float(at_stop(evidence.spent).mean()),
        score=evidence.best_score - float(at_stop(evidence.expected_losses).mean()),
        observed=float(scores.mean()),
        observed_se=float(scores.std() / np.sqrt(scores.size)),
        n_features=float(at_stop(evidence.n_acquired).mean()),
    )


def above_constant(pool, constant, share=1.0):
    """Return the constant, and the candidates that promise more than it for what they cost.

    What the constant scores is known from the labels alone, not estimated: nobody should pay for
    a point that is expected, or was seen out of fold, to do worse.

    Parameters
    ----------
    pool : list of Candidate
        Of any number of cascades.
    constant : Candidate
        The prediction without any feature.
    share : float
        Of their gains over the constant, what is no fit to chance: they promise that much.
    """
    # A mean's R² is 0, but for the last bits of its sum.
    least = constant.observed if abs(constant.observed) > ROUNDING else 0.0

    def promised(score):
        return least + share * (score - least)

    better = [
        replace(each, score=promised(each.score), observed=promised(each.observed))
        for each in pool
        if share > 0 and min(each.score, each.observed) > least
    ]
    return [replace(constant, score=least, observed=least), *better]


def best_at_each_cost(pool):
    """Return the candidates that are expected to score more than every cheaper one, by cost."""
    kept = pareto_indices([each.cost for each in pool], [each.score for each in pool])
    return [pool[i] for i in kept]
