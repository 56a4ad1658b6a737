// The page of models compared.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/names.css";
import "../templates/board.css";
import "../templates/comparison.css";
import "../templates/comparison.js";
import "../templates/compared_curves.js";
import "../templates/runs.js";

begin();
