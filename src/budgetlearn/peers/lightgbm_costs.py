"""LightGBM with its own feature costs: the choice of users without a budgeted method."""

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from ..counting import count_fit
from ..extras import extra
from ..parallel import progress
from ..protocol.documenting import documented, extending
from ..tree.convert import from_lightgbm
from ..validation import INT32_MAX, check_choice, check_number
from .cost_boosting import CostBoosting


@documented
class LightGBMCostClassifier(CostBoosting):
    """Gradient boosting by LightGBM that charges its splits for features.

    Parameters
    ----------
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. A feature of a group is penalised with its own price
        and the group's, as LightGBM has no groups; predictions are charged for the group once.
    penalty : {"coupled", "lazy"}, default="coupled"
        "coupled": the model pays for a feature once, at its first split on it. "lazy": it pays for
        each training example in a node that had not met the feature before.
    cost_weights : sequence of float or None, default=(10, 3, 1, 0.3, 0.1, 0.03, 0)
        Weights of the prices, decreasing: how much LightGBM's gain, for each training example, all
        features together must be worth. Above the gain of a perfect first split (1 with two
        equal classes) times full price over cheapest price nothing is acquired; at 0 prices do not
        matter.
        None: ten that scale with the prices, from where nothing is acquired to 0.
    num_leaves : int, default=8
        Most leaves of a tree.
    min_child_samples : int, default=5
        Least training examples in a leaf.
    random_state : int, RandomState instance or None, default=None
        Given to LightGBM, which draws nothing here on fewer than 200,000 examples.

    Notes
    -----
    The penalty of a split is tradeoff × n_samples × share ("coupled"), or tradeoff × share for
    each example ("lazy"), where share is the feature's price over the full price.

    References
    ----------
    S. Peter, F. Diego, F. Hamprecht and B. Nadler. Cost efficient gradient boosting. NIPS 2017.
    """

    @extending(CostBoosting)
    def __init__(
        self, *, penalty="coupled", num_leaves=8, min_child_samples=5, random_state=None, **shared
    ):
        super().__init__(**shared)
        self.penalty = penalty
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.random_state = random_state

    def _boost(self, X, labels, shares, cost_weights, n_iterations):
        with extra("peers", type(self).__name__):
            import lightgbm
        parameters = self._parameters(len(X), shares)
        # Coded once for all cost_weights.
        data = lightgbm.Dataset(X, labels, params=dict(parameters), free_raw_data=False)
        paths = []
        for tradeoff in progress(cost_weights, "models"):
            count_fit()
            charged = {**parameters, "cegb_tradeoff": tradeoff}
            paths.append(from_lightgbm(lightgbm.train(charged, data, n_iterations)))
        return paths

    def _parameters(self, n_samples, shares):
        check_choice(self.penalty, "penalty", ("coupled", "lazy"))
        check_number(self.num_leaves, "num_leaves", low=2, integer=True)
        check_number(self.min_child_samples, "min_child_samples", low=1, integer=True)
        # Gains are sums over examples: "coupled" must be, too; "lazy" is charged an example.
        penalties = shares * (n_samples if self.penalty == "coupled" else 1)
        return {
            "objective": "binary" if self._n_outputs == 1 else "multiclass",
            "num_class": self._n_outputs,
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            f"cegb_penalty_feature_{self.penalty}": penalties.tolist(),
            "num_threads": effective_n_jobs(self.n_jobs),
            "seed": int(check_random_state(self.random_state).randint(INT32_MAX)),
            "deterministic": True,
            "force_row_wise": True,  # else LightGBM times both ways, and picks one
            "verbose": -1,
        }
