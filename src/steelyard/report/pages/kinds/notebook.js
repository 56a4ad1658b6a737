// An evaluation in a notebook.

import "../templates/result.css";
import "../templates/notebook_view.css";
import "../templates/notebook_view.js";
