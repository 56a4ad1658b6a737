"""Results: what an answer is: rows that print, save, and come back from JSON."""
