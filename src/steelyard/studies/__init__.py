"""Studies: the papers' experiments again, one a module, each with its tables, figures and claims."""
