"""Probabilities at each stage, for scores that are log-odds or shares of votes."""

from abc import abstractmethod

from .staged import TreeStages


class ProbabilityStages(TreeStages):
    """Stages with probabilities: a subclass says how scores become shares of the classes."""

    @abstractmethod
    def _shares(self, scores):
        """Return shares of shape (n_samples, n_classes) that add up to 1."""

    def _shares_at(self, X, stage):
        return self._shares(self._models[stage].scores(X, self.n_jobs))

    def predict_proba(self, X):
        """Return the probability of each class at the last stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._shares_at(self._checked(X), -1)

    def staged_predict_proba(self, X):
        """Return the probability of each class at each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        X = self._checked(X)
        for stage in range(len(self.stage_settings_)):
            yield self._shares_at(X, stage)
