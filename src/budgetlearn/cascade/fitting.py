"""Fit the models of all stages once, and ask them about examples stage by stage."""

import numpy as np

from ..parallel import thread_map
from .models import ascending, stage_seed, with_temperature


class StageModels:
    """Models of each kind on each set of features, whichever cascades ask for them.

    Parameters
    ----------
    models : dict of (str, tuple of int) to object
        By kind and ascending features.
    held_out : dict of (str, tuple of int) to ndarray of shape (n_samples, n_outputs)
        What models that had not seen them say of the training examples.
    fallback_model : MaskedModel, default=None
        Predicts where values that a stage needs cannot be had.
    usual : ndarray of shape (n_features,), default=None
        Medians of the training examples.
    """

    def __init__(self, models, held_out, fallback_model=None, usual=None):
        self.models = models
        self.held_out = held_out
        self.fallback_model = fallback_model
        self.usual = usual

    @property
    def kinds(self):
        """Names of the kinds."""
        return tuple(dict.fromkeys(kind for kind, _ in self.models))

    @classmethod
    def fit(cls, table, feature_sets, kinds, seed, n_jobs=None):
        """Fit a model of each kind on each distinct set of features.

        Parameters
        ----------
        table : Table
            Training examples.
        feature_sets : iterable of tuple of int
            In any order.
        kinds : dict of str to object
            What `as_kind` gives, by name.
        seed : int
            Source of randomness.
        n_jobs : int or None
            Models fitted at a time, in threads.

        Returns
        -------
        StageModels
        """
        distinct = sorted({ascending(features) for features in feature_sets}, key=len)
        # The largest tables first, so that no thread waits for them in the end.
        keys = [(name, features) for features in reversed(distinct) for name in kinds]

        def fit_one(key):
            name, features = key
            return kinds[name].fit_both(table, list(features), stage_seed(seed, name, features))

        fitted = thread_map(fit_one, keys, n_jobs, "models")
        return cls(
            {key: model for key, (_, model) in zip(keys, fitted, strict=True)},
            {key: held_out for key, (held_out, _) in zip(keys, fitted, strict=True)},
        )

    def held_out_stages(self, stages, kinds):
        """Return the averaged out-of-fold predictions of stages.

        Parameters
        ----------
        stages : sequence of tuple of int
            Features of each stage.
        kinds : sequence of tuple of str
            Models to average at each stage.

        Returns
        -------
        ndarray of shape (n_stages, n_samples, n_outputs)
        """
        return np.array(
            [
                np.mean([self.held_out[kind, ascending(features)] for kind in averaged], axis=0)
                for features, averaged in zip(stages, kinds, strict=True)
            ]
        )

    def only(self, cascades):
        """Return the models that some cascades use, without what served to choose.

        Parameters
        ----------
        cascades : iterable of Cascade
            Cascades that are kept.

        Returns
        -------
        StageModels
        """
        keys = {key for cascade in cascades for key in cascade.model_keys()}
        kept = {key: model for key, model in self.models.items() if key in keys}
        return StageModels(kept, {}, self.fallback_model, self.usual)


class StageReader:
    """What stage models say of the rows of one table, asked once for each row and model.

    Parameters
    ----------
    models : StageModels
        The models.
    X : ndarray of shape (n_samples, n_features)
        Examples; only the features of a stage are looked at, in the rows that come to it.
    """

    def __init__(self, models, X):
        self._models = models.models
        self._X = X
        self._known = {}  # key -> (mask of rows, predictions)

    def predict(self, cascade, stage, rows):
        """Return what a stage predicts for some rows: calibrated probabilities, or numbers.

        Parameters
        ----------
        cascade : Cascade
            Whose stage it is.
        stage : int
            Index of the stage.
        rows : ndarray of int
            Which examples.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
        """
        keys = [(kind, ascending(cascade.stages[stage])) for kind in cascade.kinds[stage]]
        mean = np.mean([self._ask(key, rows) for key in keys], axis=0)
        if cascade.temperatures is None:
            return mean
        return with_temperature(mean, cascade.temperatures[stage])

    def confidence(self, cascade, stage, predictions, rows):
        """Return how sure a stage is of what it predicts for some rows.

        Parameters
        ----------
        cascade : Cascade
            Whose stage it is.
        stage : int
            Index of the stage.
        predictions : ndarray of shape (n_rows, n_outputs)
            What it predicts.
        rows : ndarray of int
            Which examples.

        Returns
        -------
        ndarray of shape (n_rows,)
            The largest probability; in regression minus the change that is expected.
        """
        if cascade.temperatures is not None:
            return predictions.max(axis=1)
        return -self._ask((cascade.change_kind, ascending(cascade.stages[stage])), rows)[:, 0]

    def _ask(self, key, rows):
        if key not in self._known:
            self._known[key] = np.zeros(len(self._X), dtype=bool), None
        asked, answers = self._known[key]
        fresh = rows[~asked[rows]]
        if fresh.size:
            found = self._models[key].predict(
                np.ascontiguousarray(self._X[np.ix_(fresh, list(key[1]))])
            )
            if answers is None:
                answers = np.empty((len(self._X), found.shape[1]))
                self._known[key] = asked, answers
            answers[fresh], asked[fresh] = found, True
        return answers[rows]


def walk(candidate, reader, n_samples):
    """Send examples through the stages of a cascade until each one stops.

    Parameters
    ----------
    candidate : Candidate
        Stages and thresholds.
    reader : CascadeReader or DynamicReader
        What its cascade says of the examples.
    n_samples : int
        Examples.

    Returns
    -------
    stops : ndarray of int of shape (n_samples,)
        Stage at which each example stops.
    predictions : ndarray of shape (n_samples, n_outputs)
        Of that stage.
    """
    stops = np.zeros(n_samples, dtype=np.intp)
    predictions = None
    rows = np.arange(n_samples)
    for stage, threshold in enumerate(candidate.thresholds):
        if threshold == np.inf:
            continue
        found = reader.predict(stage, rows)
        if predictions is None:
            predictions = np.empty((n_samples, found.shape[1]))
        stop = np.ones(rows.size, dtype=bool)
        if threshold > -np.inf:
            stop = reader.confidence(stage, found, rows) >= threshold
        stops[rows[stop]], predictions[rows[stop]] = stage, found[stop]
        rows = rows[~stop]
        if not rows.size:
            break
    return stops, predictions
