"""Every space that config/methods.yaml declares holds settings that its method can be fitted at."""

from pathlib import Path

import numpy as np
import pytest

from budgetbench.study.experiment import settings_of
from budgetbench.study.methods import build
from budgetbench.study.study import Study
from budgetlearn.costs import FeatureCosts
from budgetlearn.files import read_yaml

CONFIG = Path(__file__).parents[2] / "config"
METHODS = read_yaml(CONFIG / "methods.yaml")
SPACES = [name for name, spec in METHODS.items() if "space" in spec]
SMALL = {"n_estimators": 2, "n_trees": [1, 2], "cost_weights": [1.0, 0.1]}


@pytest.fixture(scope="module")
def little():
    """Sixty rows of three classes in four columns."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return random.normal(size=(60, 4)) + y[:, None] * [1.5, 1, 0.5, 0], y


@pytest.mark.parametrize("method", SPACES)
def test_every_setting_of_a_space_can_be_fitted(method, little):
    spec = dict(METHODS[method], tries=3)
    prices = FeatureCosts(np.array([1.0, 2.0, 3.0, 4.0]))
    settings = settings_of(method, spec, 0, "little")
    assert len(settings) > 2
    for setting in settings:
        model = build(spec, feature_costs=prices, random_state=0)
        own = model.get_params(deep=False)
        model.set_params(**{key: value for key, value in SMALL.items() if key in own})
        model.set_params(**setting).fit(*little)
        assert model.predict(little[0]).shape == (60,)


@pytest.mark.parametrize("path", sorted(CONFIG.glob("studies/budgetrf-*.yaml")), ids=str)
def test_the_paper_s_studies_keep_to_the_paper_s_risk(path):
    study = Study.from_config(read_yaml(CONFIG / "config.yaml") | read_yaml(path), CONFIG.parent)
    for dataset in study.datasets:
        spec = study.spec("budgetrf", dataset)
        assert spec["parameters"]["cost_exponent"] == 1
        assert set(spec["grid"]) == {"alpha", "growth__max_features"}
        assert "space" not in spec


def test_no_study_cuts_the_path_of_a_linear_model():
    for path in CONFIG.glob("studies/*.yaml"):
        assert "n_lambda" not in path.read_text()
    assert build(METHODS["logitb"]).n_lambda == build(METHODS["sparse_linear"]).n_lambda == 100
