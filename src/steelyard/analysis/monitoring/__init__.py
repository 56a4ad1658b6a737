"""Monitoring: a model followed batch by batch, with alarms whose rate of false ones is limited over all looks."""
