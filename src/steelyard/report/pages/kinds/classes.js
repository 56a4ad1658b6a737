// The page of several classes: all together, then each against the rest.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/names.css";
import "../templates/classes.css";
import "../templates/risk.css";
import "../templates/groups.css";
import "../templates/board.css";
import "../templates/class_cells.js";
import "../templates/class_map.js";
import "../templates/class_paint.js";
import "../templates/class_moves.js";
import "../templates/class_list.js";
import "../templates/classes.js";
import "../templates/state.js";
import "../templates/rows.js";
import "../templates/outcomes.js";
import "../templates/sentences.js";
import "../templates/update.js";
import "../templates/dots.js";
import "../templates/curves.js";
import "../templates/page.js";
import "../templates/risk.js";
import "../templates/groups.js";
import "../templates/runs.js";

begin();
