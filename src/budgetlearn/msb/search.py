"""msB: search along several model sequences, and the schedule of the best models under budgets."""

from dataclasses import replace

from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from ..forests import RandomForestClassifier
from ..parallel import thread_map
from ..protocol.documenting import documented, extending
from ..protocol.examples import checked_examples
from ..validation import ParameterError, check_number
from .problem import SequenceProblem
from .schedule_classifier import ScheduleClassifier
from .sequences import as_sequence


def takes_missing(engine):
    """Return True if an engine can be fitted on missing values.

    A pipeline can where each of its steps does, up to the first that fills them in; it does not
    say so in its tags.
    """
    if not isinstance(engine, Pipeline):
        return get_tags(engine).input_tags.allow_nan
    for _, step in engine.steps:
        if step in (None, "passthrough"):
            continue
        if not takes_missing(step):
            return False
        # From here on nothing is missing: later steps need not take gaps.
        if type(step).__module__.startswith("sklearn.impute"):
            return True
    return True


@documented
class ModelScheduleSearch(ScheduleClassifier):
    """Model sequences search under a budget (msB).

    Several sequences of nested models are fitted by removing variables one after another; the
    union of all models is compressed into a schedule in which a more expensive model is always a
    better one on the validation data. A budget then selects a model.

    Parameters
    ----------
    estimator : classifier, default=None
        The engine, fitted on each subset of variables; None: our `RandomForestClassifier` of 100
        trees on 255 bins. Where its `fit` takes `binned`, the training data are coded once for all
        models. Where it takes missing values, X may hold them.
    sequences : sequence, default=("importance", "cost", "sampling", "l1")
        Names of sequences (`budgetlearn.msb.sequences.SEQUENCES`), or objects with a `name` and
        `subsets(problem)`. Default: the paper's four.
    min_variables : int, default=2
        Where the nested sequences end.
    scoring : str or callable, default=None
        Score, as in scikit-learn, that the schedule maximises on the validation data under every
        budget, and whose fall is the importance of a variable. None: accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in each fit, as in scikit-learn; the engine's `fit` must take
        `sample_weight`.
    refit : bool, default=False
        Whether the models of the schedule are fitted again on training and validation data
        together. `schedule_` and `operating_points_` stay what was measured before.
    random_state : int, RandomState instance or None, default=None
        Seeds the engine, the permutations and the sampled sequences.
    n_jobs : int, default=None
        Models fitted at a time, in threads; the result does not depend on it.

    Attributes
    ----------
    sequences_ : dict of str to list of VisitedModel
        Every model of each sequence; an exhaustive search has none.
    models_ : list of estimator
        The fitted engine of each entry of the schedule.

    References
    ----------
    D. Yan, Z. Qin, S. Gu, H. Xu, M. Shao: Cost-sensitive Selection of Variables by Ensemble of
    Model Sequences. Algorithms 3.1-3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from budgetlearn.forests import RandomForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=20)
    >>> search = ModelScheduleSearch(forest, feature_costs=range(1, 14), random_state=0).fit(X, y)
    >>> bool(search.acquisition_cost(X).max() <= 91)
    True
    """

    @extending(ScheduleClassifier)
    def __init__(
        self,
        estimator=None,
        sequences=("importance", "cost", "sampling", "l1"),
        min_variables=2,
        *,
        refit=False,
        n_jobs=None,
        **shared,
    ):
        super().__init__(**shared)
        self.estimator = estimator
        self.sequences = sequences
        self.min_variables = min_variables
        self.refit = refit
        self.n_jobs = n_jobs

    def variable_importance(self, X, y, X_val=None, y_val=None):
        """Return the permutation importance that the sequences start from (Fig. 2).

        Parameters
        ----------
        X, y, X_val, y_val : array-like
            As for `fit`; the same data and `random_state` give the importance that `fit` uses.

        Returns
        -------
        ndarray of shape (n_features,)
            Mean fall in the validation score of the full model when a variable is permuted.
        """
        # The same draws, in the same order, as in `fit`: else the importance would be another one.
        train, valid = checked_examples(self, X, y, X_val, y_val, None)
        seed, random = self._seeds(check_random_state(self.random_state))
        if valid is None:
            train, valid = train.held_out(self.validation_fraction, random, self)
        return self._problem(train.weighed_for(self), valid, seed).importance

    def _problem(self, train, valid, seed):
        min_variables = check_number(self.min_variables, "min_variables", low=1, integer=True)
        engine = self._engine()
        if train.weight is not None and not has_fit_parameter(engine, "sample_weight"):
            raise ParameterError(
                "sample_weight and class_weight need an engine whose fit takes sample_weight, got "
                f"{engine!r}. Give another estimator, or leave the weights out."
            )
        return SequenceProblem(
            engine,
            (train.X, train.y),
            (valid.X, valid.y),
            self.feature_costs_,
            min_variables,
            seed,
            self.n_jobs,
            weight=train.weight,
            score=self._validation_score(valid),
        )

    def _fit_schedule(self, train, valid, seed):
        problem = self._problem(train, valid, seed)
        subsets = {}

        def along_all_sequences():
            for sequence in self._sequences():
                subsets[sequence.name] = list(sequence.subsets(problem))
                yield from subsets[sequence.name]

        # Algorithm 3.3: all sequences are fitted together, while stagewise ones are still choosing.
        problem.visit(along_all_sequences(), "models")
        self.sequences_ = {name: problem.visit(visited) for name, visited in subsets.items()}
        # Sorted, so that which of two equal models stays does not depend on the sequences' order.
        union = {model.variables: model for models in self.sequences_.values() for model in models}
        models = [union[variables] for variables in sorted(union)]
        if not models:
            raise ParameterError(
                f"the sequences {', '.join(subsets)} visit no model of {problem.min_variables} "
                "or more variables. Lower min_variables, or add a nested sequence, as 'importance'."
            )
        self.schedule_ = self._schedule_of(
            [model.cost for model in models],
            [model.score for model in models],
            [model.variables for model in models],
        )
        # Compression keeps few: only these are fitted again where they were dropped.
        self.models_ = [problem.model(variables) for variables in self.schedule_.variables]

    def _refit(self, examples, seeds):
        problem = self._problem(examples, examples, seeds)
        self.models_ = thread_map(
            problem.trained, self.schedule_.variables, self.n_jobs, "models to refit"
        )

    def _engine(self):
        engine = self.estimator
        if engine is None:
            engine = RandomForestClassifier(max_bins=255)
        if not is_classifier(engine):
            raise ParameterError(f"estimator must be a classifier, got {engine!r}.")
        return engine

    def _sequences(self):
        if isinstance(self.sequences, str) or not len(self.sequences):
            raise ParameterError(
                f"sequences must list at least one sequence, got {self.sequences!r}."
            )
        sequences = [as_sequence(sequence) for sequence in self.sequences]
        names = [sequence.name for sequence in sequences]
        if len(set(names)) < len(names):
            raise ParameterError(f"the names of the sequences must differ, got {names}.")
        return sequences

    def _can_predict_proba(self):
        return hasattr(self._engine(), "predict_proba")

    def _takes_missing(self):
        return takes_missing(self._engine())

    def __sklearn_tags__(self):
        weighs = has_fit_parameter(self._engine(), "sample_weight")
        return replace(super().__sklearn_tags__(), sample_weight=weighs)

    def _entry(self, X, entry):
        return self.models_[entry], X[:, list(self.schedule_.variables[entry])]
