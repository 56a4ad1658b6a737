"""Terminal: what the command line writes, as text of a terminal's width."""
