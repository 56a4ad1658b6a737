"""Label sets: the evaluation of rows that may have several labels each."""
