"""Questions asked of a table: its intervals, no-skill baselines, best threshold, prevalence, which of two models."""
