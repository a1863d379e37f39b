// All ranks of a job beside each other: what each takes longer than the rank in the middle, by
// phase and by step, in the order of the grid.
import {HeatMap, heatLegend} from "../charts/heat_map";
import {h} from "../dom";
import {count} from "../format";
import type {RankMapsData} from "../rank_maps_data";
import {section} from "./section";

function titleOf(key: "phase"|"step", knowsWaits: boolean): string {
  if (key === "phase") return "By phase";
  return knowsWaits ? "By step, without what was lost waiting" : "By step, with what they wait";
}

export function rankMapsView(job: RankMapsData|null|undefined): HTMLElement|null {
  if (!job) return null;
  const folded = job.lines.length < job.ranks.length;
  const words = [
    `What each of ${
      count(job.ranks.length)} ranks takes longer than the rank in the middle, as part of a step.`,
    job.grid ? ` In the order of the grid ${job.grid}.` : "",
    folded ? " Several ranks share a line: the one that takes most shows." : "",
  ];
  const maps = job.maps.flatMap((map) => {
    const title = titleOf(map.key, job.knows_waits);
    return [h("h3", {}, title), new HeatMap(job, map, `Ranks ${title.toLowerCase()}`).element];
  });
  return section("rank-maps", "Ranks beside each other", words.join(""), ...maps, heatLegend());
}
