"""Questions asked of a table: how sure, against what chance, at which cut, at which prevalence, which of two."""
