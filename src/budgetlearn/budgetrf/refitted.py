"""Forests whose stages are prefixes with leaf values of their own."""

from scipy.special import softmax


class RefittedForest:
    """Mixin, named before the forest, of those whose leaves may have been refitted.

    `_refitted` holds prefixes with values of their own, or nothing. Stages are those prefixes
    then, not every number of trees.
    """

    _refitted = ()

    def _set_trees(self, trees, prefixes=()):
        super()._set_trees(trees)
        self._refitted = prefixes
        if prefixes:
            self._predictor = prefixes[-1].predictor
        self.penalties_ = [prefix.penalty for prefix in prefixes]

    @property
    def n_stages_(self):
        """Number of operating points: prefixes of the forest."""
        return len(self._refitted) or super().n_stages_

    @property
    def _vote_kind(self):
        return "values" if self._refitted else super()._vote_kind

    @property
    def _incremental(self):
        return not self._refitted

    def _model(self, index):
        if not self._refitted:
            return super()._model(index)
        return self._refitted[index].predictor, self._refitted[index].n_trees

    def _walks(self, X, which, parts):
        if not self._refitted:
            yield from super()._walks(X, which, parts)
            return
        for index in which:
            yield index, self._model(index)[0].walk(X, **parts)

    def _shares(self, scores, n_trees):
        if not self._refitted:
            return super()._shares(scores, n_trees)
        return softmax(scores / n_trees, axis=1)
