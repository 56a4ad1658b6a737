// The page of two classes.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/decision.css";
import "../templates/groups.css";
import "../templates/names.css";
import "../templates/board.css";
import "../templates/state.js";
import "../templates/rows.js";
import "../templates/outcomes.js";
import "../templates/sentences.js";
import "../templates/update.js";
import "../templates/dots.js";
import "../templates/curves.js";
import "../templates/page.js";
import "../templates/tabs.js";
import "../templates/decision.js";
import "../templates/groups.js";
import "../templates/runs.js";

begin();
