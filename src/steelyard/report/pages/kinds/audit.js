// The page of an audit.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/audit.css";
import "../templates/audit.js";

begin();
