"""What results were made with is told in one line for each thing."""

from budgetlearn.benchmark import provenance


def test_an_origin_names_code_versions_and_machine():
    origin = provenance.origin()
    assert {"commit", "machine", "python", "numpy"} <= origin.keys()
    assert all(isinstance(value, str) for value in origin.values())


def test_differences_are_told_with_their_number_of_jobs():
    one = {"numpy": "2.0", "python": "3.12"}
    origins = [{**one, "jobs": 3}, {**one, "numpy": "2.1", "scipy": "1.15", "jobs": 2}]
    assert provenance.summary(origins) == {
        "numpy": "2.0 (3 jobs), 2.1 (2 jobs)",
        "python": "3.12",
        "scipy": "not recorded (3 jobs), 1.15 (2 jobs)",
    }
    assert provenance.summary([]) == {}
