// The page of a history.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/history.css";
import "../templates/history.js";

begin();
