// The page of label sets.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/classes.css";
import "../templates/labels.css";
import "../templates/names.css";
import "../templates/board.css";
import "../templates/labels.js";
import "../templates/runs.js";

begin();
