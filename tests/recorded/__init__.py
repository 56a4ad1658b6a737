"""What the program gives for chosen calls, commands and pages, so that no change moves a number unseen.

`make record` writes `tests/record/` anew, one file for each question; its diff is the review of every deliberate change.
A call is added as one line of a table in a module here.
"""
