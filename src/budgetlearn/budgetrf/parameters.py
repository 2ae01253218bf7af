"""The parameters and attributes that BudgetRF's classifier and regressor share: written once."""

import inspect

PARAMETERS = """
    feature_costs : array-like of shape (n_features,) or FeatureCosts, default=None
        Price of each feature; None: 1 each. In the risk of a split a member of a group costs its
        own price plus the group's charge.
    budget : float, default=None
        Most that a prediction may cost on average, in the unit of `feature_costs`. None: no limit.
    n_estimators : int, default=40
        Most trees.
    cost_exponent : float or list of float, default=None
        Power of the prices in the risk, in [0, 1]: 1 is the paper's risk, 0 looks at the drop in
        impurity alone. Of a list the best value is chosen on validation data. None scales it to
        the prices: without a budget the dearest feature counts as 1.001 times the cheapest; with
        one the best of 1.001, 1.15, 4/3, 1.8, 3 and as many times as it costs; what is free counts
        as a hundredth of the cheapest. Where an exponent is named, free features stay free.
    reuse_discount : float, default=1.0
        Share f of a price that stays in the risk where all examples of a node have acquired the
        feature before, on the path or in earlier trees: price × (f + (1 − f) × share of the node
        that has not). The charge of a group falls alike with the share that acquired no member.
        1: the paper's risk. Name a cost_exponent with it: the default makes little of prices.
    prune : bool, float or list of float, default=False
        Whether each tree keeps only the splits that examples left out of its bootstrap sample find
        worth their cost. A number is the weight of what the tree adds to the mean cost, as a share
        of the cost of all features, against its squared error, as a share of that without a
        split; what an example acquired from earlier trees is free. 0 prunes by the error alone. Of
        a list, or of 0.1, 0.3, 1, 3, 10 with True, the best is chosen on validation data.
    refit_leaves : bool, float or list of float, default=False
        Whether the values of all leaves are fitted together when the trees are grown: by logistic
        regression of the classes on the leaves, shrunk to the log-odds of the leaves' class counts;
        in regression by ridge regression of the target, shrunk to the leaves' means. A number is
        the penalty of the squared difference, in units of the loss of one example; of a list, or of
        100, 30, 10, 3, 1 with True, each stage uses the one with the least loss on validation data.
        Stages are then the first 1, 2, 3, 4, 6, 8, 11, 16, ... trees, each with values of its own.
    thresholds : {"all", "random"}, default="all"
        Every midpoint of neighbouring values, or the paper's random 80, 40 or 20 (at nodes of more
        than 2000, more than 500, fewer examples).
    ties : {"random", "first", "reuse"}, default="random"
        Which of several splits of least risk to take: one at random; the first feature and
        threshold (the authors' code); or a feature that the path already acquired, else the one
        that the forest uses most.
    max_bins : int, default=None
        Quantile bins for each feature, 255 is fast; None: exact.
    codes_folder : str or Path, default=None
        Where a temporary file holds the codes of the table, mapped into memory, while the forest
        grows: for tables whose codes do not fit. None: in memory.
    bootstrap : bool, default=True
        Draw a bootstrap sample for each tree.
    oob_score : bool, default=False
        Whether to estimate the accuracy of the forest, R² in regression, with the leaves as they
        grew, on the examples that each tree left out. Pruning has seen them: then it is a little
        too good.
    max_depth : int, default=None
        Greatest depth of a tree.
    max_features : {"sqrt"}, int, float or None, default=None
        Features drawn at each node among those that vary there; None: all. About half of them
        make the trees less alike, and often the forest better at equal cost.
    validation_fraction : float, default=0.3
        Share of the training data held out when validation data are needed (with a budget or
        lists to choose from) and none are given.
    refit : bool, default=False
        Whether the forest is grown again on training and validation data together, with what was
        chosen on validation data and as many trees, as far as the budget allows.
        `operating_points_` stays what was measured before.
    scoring : str or callable, default=None
        Score, as in scikit-learn, by which validation data choose among settings and operating
        points; None: accuracy, R² in regression.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last fit, on the same rows, and adds more up to
        `n_estimators`. Only where nothing is chosen on validation data.
    verbose : int, default=0
        1: a line for each forest; 2: for each tree.
    n_jobs : int, default=None
        Threads, as in joblib. The forest does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of randomness.
"""
ATTRIBUTES = """
    tree_seeds_ : list of int
        Seed of each tree; its bootstrap sample follows from it.
    cost_exponent_, prune_ : float
        The exponent and the weight of pruning in use; None without pruning.
    oob_score_ : float
        With `oob_score`: accuracy, R² in regression, on the examples that some tree left out.
    penalties_ : list of float
        Penalty of the leaf values of each stage; empty where they are not refitted.
    validation_costs_, validation_errors_ : ndarray of shape (n_trees,) or None
        Mean acquisition cost and error, the mean squared one in regression, of each prefix of the
        forest on the validation data, the error with the leaves as they grew.
    feature_costs_ : FeatureCosts
        Prices in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names, when X has them.
"""


def documented(kind):
    """Decorate a class of BudgetRF: complete its docstring and its constructor's signature.

    The first entry of the docstring's sections stands for the shared ones. A constructor of its
    own passes shared parameters on as keywords; its signature, by which scikit-learn and `help`
    find parameters, names them all.

    Parameters
    ----------
    kind : type
        Derived from the class whose constructor takes the shared parameters.

    Returns
    -------
    type
        The same.
    """
    if kind.__doc__ is not None:  # python -OO has none
        kind.__doc__ = kind.__doc__.replace("\n    shared parameters\n", PARAMETERS)
        kind.__doc__ = kind.__doc__.replace("\n    shared attributes\n", ATTRIBUTES)
    if "__init__" in vars(kind):
        shared = inspect.signature(super(kind, kind).__init__).parameters
        own = inspect.signature(kind.__init__).parameters.values()
        named = {one.name: one for one in own if one.kind is not one.VAR_KEYWORD}
        kind.__init__.__signature__ = inspect.Signature((dict(shared) | named).values())
    return kind
