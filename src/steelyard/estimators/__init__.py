"""Estimators: classifiers that scikit-learn can fit, search and score. Each needs scikit-learn installed."""
