"""Write tests/record anew: what chosen calls, commands and pages give now. Read the diff before you commit it."""

from recorded.record import write

write()
