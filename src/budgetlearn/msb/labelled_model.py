"""Models of class indices as models of class labels."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if


class LabelledModel(ClassifierMixin, BaseEstimator):
    """A fitted model of class indices as scikit-learn's scorers want it: it predicts labels.

    Parameters
    ----------
    model : classifier
        Fitted on class indices, perhaps not on all classes.
    classes : ndarray of shape (n_classes,)
        Class labels.
    """

    def __init__(self, model, classes):
        self.model = model
        self.classes = classes

    def fit(self, X, y):
        """Do nothing: the model is fitted already."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        """Class labels."""
        return self.classes

    def predict(self, X):
        """Return class labels of X, shape (n_samples,)."""
        return self.classes[self.model.predict(X)]

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X):
        """Return class probabilities of X, shape (n_samples, n_classes)."""
        shares = self.model.predict_proba(X)
        if shares.shape[1] == len(self.classes):
            return shares
        spread = np.zeros((len(shares), len(self.classes)))
        spread[:, self.model.classes_] = shares
        return spread
