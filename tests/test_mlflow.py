"""`steelyard.mlflow`: an evaluation in a run of a real local MLflow store, and read back from it.

MLflow is no part of the other tests' tools: `make test-engines` installs it and runs these.
"""

from __future__ import annotations

import sys
from unittest.mock import MagicMock

import numpy as np
import pytest

from steelyard import Counts, evaluate
from steelyard.exceptions import InputError, InputTypeError, MissingLibraryError

RNG = np.random.default_rng(4)
Y = (RNG.random(300) < 0.2).astype(int)
EVALUATION = evaluate(
    Y, y_score=np.clip(0.3 * Y + 0.6 * RNG.random(300), 0, 1), metrics=["recall", "roc_auc", "f_beta[beta=2]"]
)


def test_without_mlflow_one_sentence_states_what_to_install(monkeypatch):
    import steelyard.mlflow

    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'steelyard\[mlflow\]'"):
        steelyard.mlflow.log(EVALUATION)
    with pytest.raises(InputTypeError, match="not Counts"):
        steelyard.mlflow.log(Counts(1, 2, 3, 4))


def test_undefined_numbers_are_no_metrics_of_a_run_and_names_are_allowed_ones(monkeypatch):
    import steelyard.mlflow

    library = MagicMock()
    monkeypatch.setitem(sys.modules, "mlflow", library)
    names = ["precision", "f_beta[beta=0.5]", "recall"]
    steelyard.mlflow.log(evaluate(Counts(tp=0, fn=9, fp=0, tn=9), metrics=names), run_id="one")
    (numbers,) = library.log_metrics.call_args.args
    assert "precision" not in numbers and "recall.high" in numbers and "f_beta_beta_0.5" in numbers


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    """MLflow with a store of its own in SQLite."""
    library = pytest.importorskip("mlflow", reason="mlflow is not installed: make test-engines")
    pytest.importorskip("alembic", reason="mlflow has no SQLite store without alembic: make test-engines")
    folder = tmp_path_factory.mktemp("mlflow")
    library.set_tracking_uri(f"sqlite:///{folder / 'store.db'}")
    library.create_experiment("kept", artifact_location=(folder / "artifacts").as_uri())
    library.set_experiment("kept")
    return library


pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow and what it imports


def test_an_evaluation_is_logged_into_the_active_run_and_read_back_equal(mlflow):
    import steelyard.mlflow

    with mlflow.start_run() as run:
        assert steelyard.mlflow.log(EVALUATION) == run.info.run_id
        assert mlflow.active_run().info.run_id == run.info.run_id
    assert steelyard.mlflow.read(run.info.run_id) == EVALUATION
    stored = mlflow.get_run(run.info.run_id)
    row = EVALUATION["recall"]
    kept = [stored.data.metrics[name] for name in ("recall", "recall.low", "recall.high")]
    assert kept == [row.value, row.low, row.high]
    assert stored.data.metrics["f_beta_beta_2"] == EVALUATION["f_beta[beta=2]"].value
    assert stored.data.tags["steelyard.rows"] == "300" and stored.data.tags["steelyard.threshold"] == "0.5"
    files = {file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id, "steelyard")}
    drawn = {f"steelyard/{name}.png" for name in ("confusion", "intervals", "roc", "precision-recall", "reliability")}
    assert files == {"steelyard/evaluation.json", "steelyard/page.html", *drawn}
    page = mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/steelyard/page.html")
    assert page.startswith("<!doctype html>") and "Steelyard" in page


def test_a_new_run_is_started_and_ended_and_a_run_may_be_named(mlflow):
    import steelyard.mlflow

    sets = evaluate([["war"], ["war", "trade"], ["trade"]], [["war"], ["war"], ["trade"]])
    run_id = steelyard.mlflow.log(sets)
    assert mlflow.active_run() is None and mlflow.get_run(run_id).info.status == "FINISHED"
    assert steelyard.mlflow.read(run_id) == sets
    assert steelyard.mlflow.log(EVALUATION, run_id=run_id) == run_id
    assert steelyard.mlflow.read(run_id) == EVALUATION


def test_a_run_without_an_evaluation_is_refused_in_one_sentence(mlflow):
    import steelyard.mlflow

    with mlflow.start_run() as run:
        pass
    for run_id in (run.info.run_id, "nothing"):
        with pytest.raises(InputError, match="holds no evaluation"):
            steelyard.mlflow.read(run_id)
