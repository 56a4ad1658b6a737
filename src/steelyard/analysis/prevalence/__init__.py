"""Prevalence: the share of positives as given, known or estimated, and a table at another one."""
