// The page of a study.

import { begin } from "../templates/frame.js";
import "../templates/page.css";
import "../templates/study.css";
import "../templates/study.js";

begin();
