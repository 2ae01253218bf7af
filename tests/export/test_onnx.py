"""Exported ONNX models predict what the forests predict."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from budgetlearn.exceptions import MissingExtraError
from budgetlearn.export import ImportedForest
from budgetlearn.export.exporting import ensemble
from tests.export.test_compact import MODELS, fitted  # noqa: F401
from tests.export.test_imported import GAPS, with_gaps


def outputs(path, X):
    """Return the outputs of a model by name; a row alone gets the same numbers."""
    session = pytest.importorskip("onnxruntime").InferenceSession(str(path))
    names = [output.name for output in session.get_outputs()]
    found, alone = session.run(names, {"X": X}), session.run(names, {"X": X[:1]})
    np.testing.assert_allclose(alone[-1], found[-1][:1], rtol=1e-4, atol=1e-5)
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_onnx_predicts_what_the_model_predicts(fitted, name, tmp_path):  # noqa: F811
    onnx = pytest.importorskip("onnx")
    model, X, _ = fitted(name)
    model.export_onnx(tmp_path / "model.onnx")
    graph = onnx.load(tmp_path / "model.onnx").graph
    # Runtimes warn about constants that no node reads.
    read = {each for node in graph.node for each in node.input}
    assert {each.name for each in graph.initializer} <= read
    found, forest = outputs(tmp_path / "model.onnx", X), model.compact()
    expected = forest.scores(X)
    near = {"rtol": 1e-4, "atol": 1e-5 * np.abs(expected).max()}
    np.testing.assert_allclose(found.get("scores", found.get("prediction")), expected, **near)
    if hasattr(model, "classes_"):
        # Of every row, tied or not: sums in another order may break a tie of scores another way.
        scores = expected if expected.shape[1] > 1 else np.hstack([-expected, expected])
        given = np.searchsorted(model.classes_, found["label"])
        assert (scores[np.arange(len(X)), given] >= scores.max(axis=1) - 1e-4).all()


def test_labels_may_be_strings_and_thresholds_hold_to_the_last_bit(fitted, tmp_path):  # noqa: F811
    pytest.importorskip("onnx")
    model, X, y = fitted("two classes")
    named = type(model)(**model.get_params()).fit(X.astype(float), np.array(["no", "yes"])[y])
    named.export_onnx(tmp_path / "model.onnx")
    at_thresholds = X[:50].copy()
    for row, tree in zip(at_thresholds, named.trees_, strict=False):
        feature, threshold = tree.feature[0], np.float32(tree.threshold[0])
        row[feature] = threshold  # rounded up or down: Python knows on which side it is
    for rows in (at_thresholds, np.nextafter(at_thresholds, np.float32(np.inf))):
        found = outputs(tmp_path / "model.onnx", rows)
        scores = named.decision_function(rows)
        np.testing.assert_allclose(found["scores"][:, 0], scores, rtol=1e-3, atol=1e-4)
        assert list(found["label"]) == named.predict(rows).tolist()


def test_without_onnx_it_says_what_to_install(fitted, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match="pip install onnx"):
        fitted("regression")[0].export_onnx(tmp_path / "model.onnx")


def test_missing_values_take_their_side(tmp_path):
    pytest.importorskip("onnx")
    X, y = with_gaps()
    model = ImportedForest(clone(GAPS["bagging"]).fit(X, y))
    model.export_onnx(tmp_path / "model.onnx")
    found = outputs(tmp_path / "model.onnx", X)
    np.testing.assert_array_equal(found["label"], model.compact().predict(X))


def test_a_constant_has_a_number_for_each_class(tmp_path):
    X, y = np.zeros((4, 2), dtype=np.float32), [0, 1, 2, 2]
    model = ImportedForest(DecisionTreeClassifier().fit(X, y))
    # Runtimes leave out the base value of a column that no leaf adds to.
    assert ensemble(model.compact())["target_ids"] == [0, 1, 2]
    pytest.importorskip("onnx")
    model.export_onnx(tmp_path / "model.onnx")
    found = outputs(tmp_path / "model.onnx", X)
    np.testing.assert_allclose(found["scores"], model.compact().scores(X), rtol=1e-6)
    assert found["label"].tolist() == [2] * 4
