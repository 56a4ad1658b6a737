"""Files: names, patterns and folders of predictions, read lazily."""
