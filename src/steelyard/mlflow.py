"""MLflow: `log` writes an evaluation into a run, `read` reads it back; needs `pip install 'steelyard[mlflow]'`."""

from steelyard.interop.mlflow_runs import log_evaluation_run as log
from steelyard.interop.mlflow_runs import read_evaluation_run as read

__all__ = ["log", "read"]
