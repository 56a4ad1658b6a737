"""Questions asked of a table: how sure, against what chance, at which threshold, at which prevalence, which of two."""
