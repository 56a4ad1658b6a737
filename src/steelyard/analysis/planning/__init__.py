"""Planning: how many rows an interval or a comparison needs."""
