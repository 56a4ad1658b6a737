"""Protocols: estimators and data in, tables of rows that no estimator has seen out."""
