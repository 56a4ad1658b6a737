// Runs: the leaderboard over the runs by the chosen metric.

import { host } from "./charts.js";
import { kept, remembered } from "./frame.js";

const runsMetric = host("runs-metric");
const showRuns = () => { for (const part of document.querySelectorAll("[data-run-board]")) part.hidden = part.dataset.runBoard !== runsMetric.value; };
if (runsMetric) {
  runsMetric.addEventListener("change", () => { showRuns(); remembered(); });
  kept.push({
    write(parts) { if (!runsMetric.selectedOptions[0].defaultSelected) parts.set("runs", runsMetric.value); },
    read(parts) {
      const named = [...runsMetric.options].find((option) => option.value === parts.get("runs"));
      for (const option of runsMetric.options) option.selected = named ? option === named : option.defaultSelected;
      showRuns();
    },
  });
}
