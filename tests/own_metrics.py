"""A metric declared in a module of a user's own, for the tests of pickling."""

from steelyard.metrics import metric, ratio


@metric("Hit share", family="own", range=(0, 1), cite="fawcett2006")
def hit_share(c, *, bonus=0.0):
    """Share of right rows, with a bonus for hits."""
    return ratio(c.tp * (1 + bonus) + c.tn, c.total + bonus * c.tp)


@metric("Hits of four", range=(0, 1), cite="fawcett2006")
def hits_of_four(tp, fn, fp, tn):
    """Share of right rows, from the four cells."""
    return ratio(tp + tn, tp + fn + fp + tn)
