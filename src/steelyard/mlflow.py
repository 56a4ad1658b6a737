"""MLflow: `log` writes an evaluation into a run, `read` reads it back; needs `pip install 'steelyard[mlflow]'`."""

from steelyard.interop.mlflow_runs import log, read

__all__ = ["log", "read"]
