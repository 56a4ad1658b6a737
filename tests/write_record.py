"""Write tests/record anew, what chosen calls, commands and pages give now; a question's name as argument writes it alone.

Read the diff before you commit it.
"""

import sys

from recorded.record import write

write(sys.argv[1:])
