"""What the pages show was run as it is printed, and gives what is printed."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from budgetlearn.costs import read_prices
from tests.cli.conftest import called_in

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS, OWN_TABLE = ROOT / "docs" / "command-line.md", ROOT / "docs" / "own-table.md"


def blocks(page, kind):
    """Return the code blocks of a kind ("" for what is printed)."""
    found = re.findall(r"^```(\S*)\n(.*?)^```", page.read_text(), re.M | re.S)
    return [text for own, text in found if own == kind]


def commands(page):
    """Return the command lines of `budgetlearn` on a page, split into words."""
    lines = "".join(blocks(page, "sh")).splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [line for line in words if line and line[0] == "budgetlearn"]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the commands of both pages print; one that both show is run once.

    `auto` compares all its methods here, as it does for who reads the page.
    """
    folder = tmp_path_factory.mktemp("pages") / "patients"
    shutil.copytree(ROOT / "docs" / "patients", folder)
    outputs = {}
    for page in (COMMANDS, ROOT / "README.md"):
        for words in commands(page):
            done = [seen for seen in outputs if seen[: len(words)] == tuple(words)]
            if not done:  # one with more options prints the same and more
                outputs[tuple(words)] = ran(folder, words)
    return folder, outputs


def approx_of(told):
    """Return an answer that equals those whose numbers are nearly the same."""
    numbers = ("price", "probability", "probabilities", "spent")
    return told | {name: pytest.approx(told[name], rel=1e-9) for name in numbers}


def ran(folder, words):
    """Run a command of a page as far as it takes no minutes, and return what it prints."""
    _, command, *rest = words
    if command in ("ask", "serve"):
        return ""
    if command == "compare":
        rest.append("--dry-run")
    if ">" in rest:
        rest = rest[: rest.index(">")]
    status, out, err = called_in(folder, command, *rest)
    if command == "recommend":
        assert "recommend needs a folder" in err or "does not exist" in err
        return ""
    assert status == 0, err
    return out


def test_the_page_of_commands_shows_what_they_print(printed):
    folder, outputs = printed
    listed = [tuple(words) for words in commands(COMMANDS)]
    assert [outputs[words] for words in listed[:2]] == blocks(COMMANDS, "")
    assert {words[1] for words in listed} == {
        *("fit", "predict", "ask", "serve", "compare", "recommend")
    }
    answers = '{"value": 61}\n{"value": null}\n'
    (line,) = blocks(COMMANDS, "json")
    asked = ("ask", "model.joblib", "--budget", "20", "--json")
    told = called_in(folder, *asked, text=answers)[1].splitlines()[1]
    # Of a number the last digits depend on the processor.
    assert json.loads(told) == approx_of(json.loads(line))


def test_the_readme_shows_what_its_commands_print(printed):
    words = tuple(commands(ROOT / "README.md")[0])
    fitted = next(out for seen, out in printed[1].items() if seen[: len(words)] == words)
    (shown,) = blocks(ROOT / "README.md", "")
    assert shown in fitted


def test_the_price_list_of_the_page_is_one(tmp_path):
    (text,) = [block for block in blocks(OWN_TABLE, "") if block.startswith("feature,cost")]
    (tmp_path / "prices.csv").write_text(text)
    assert read_prices(tmp_path / "prices.csv")["feature"].tolist()[0] == "age"


def test_commands_work_in_zsh():
    """There an unquoted [ ] or ? is a pattern of file names, and no match is an error."""
    to_quote = []
    for page in PAGES:
        inline = re.findall(r"`((?:pip|snakemake|budgetlearn|make) [^`]*)`", page.read_text())
        for line in [*"".join(blocks(page, "sh")).splitlines(), *inline]:
            bare = re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", line)
            if re.search(r"[\[\]?]", bare):
                to_quote.append(f"{page.name}: {line}")
    assert not to_quote, "quote the pattern"


def test_the_pipeline_of_the_page_scores_within_its_budget(monkeypatch):
    monkeypatch.chdir(ROOT / "docs" / "patients")
    table = pd.read_csv("patients.csv")
    known = {
        "table": table[100:],
        "new": table[:100].drop(columns="ill"),
        "truth": table["ill"][:100],
    }
    (code,) = blocks(OWN_TABLE, "python")
    exec(code, known)
    pipe, new, truth = (known[name] for name in ("pipe", "new", "truth"))
    right = (pipe.predict(new, budget=20) == truth).mean()
    assert pipe.score(new, truth, budget=20) == right
    assert pipe.acquisition_cost(new, budget=20).mean() <= 20
    # As the page warns: the budget is lost on the way through scikit-learn's own.
    plain = Pipeline(pipe.steps)
    assert plain.score(new, truth, budget=20) == plain.score(new, truth) != right
