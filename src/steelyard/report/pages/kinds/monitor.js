// The page of a monitor.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/monitor.css";
import "../templates/monitor.js";

begin();
