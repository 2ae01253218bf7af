"""A cascade: a fixed order of purchase, cut into stages."""

from dataclasses import dataclass

import numpy as np

from .cascade_models import ascending
from .cascade_purchases import CascadePurchases


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
    kinds : tuple of tuple of str
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

    @property
    def sizes(self):
        """Number of features bought up to each stage."""
        return np.array([len(features) for features in self.stages])

    def model_keys(self):
        """Return (kind, ascending features) of every model that the stages may ask."""
        more = () if self.temperatures is not None else (self.change_kind,)
        return [
            (kind, ascending(features))
            for features, kinds in zip(self.stages, self.kinds, strict=True)
            for kind in (*kinds, *more)
        ]

    def reader(self, stage_reader, X):
        """Return what predicts the rows of X stage by stage."""
        return CascadeReader(self, stage_reader, X.shape[1])

    def purchases(self, point, models, blank, label, n_features):
        """Return what predicts without a table."""
        return CascadePurchases(point, models, blank, label, n_features)


class CascadeReader:
    """What a cascade predicts for the rows of one table.

    Parameters
    ----------
    cascade : Cascade
        Which stages.
    stage_reader : StageReader
        What their models say of the table.
    n_features : int
        Columns of the table.
    """

    def __init__(self, cascade, stage_reader, n_features):
        self._cascade, self._reader, self._n_features = cascade, stage_reader, n_features

    def predict(self, stage, rows):
        """Return calibrated probabilities, or numbers, of some rows at a stage."""
        return self._reader.predict(self._cascade, stage, rows)

    def confidence(self, stage, predictions, rows):
        """Return how sure the stage is of what it predicts for some rows."""
        return self._reader.confidence(self._cascade, stage, predictions, rows)

    def acquired(self, stops):
        """Return which features each example has bought by the stage where it stops."""
        masks = np.zeros((len(self._cascade.stages), self._n_features), dtype=bool)
        for mask, features in zip(masks, self._cascade.stages, strict=True):
            mask[list(features)] = True
        return masks[stops]
