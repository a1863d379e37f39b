// All ranks of a job beside each other: what each takes longer than the rank in the middle, by
// phase and by step, in the order of the grid.
import {HeatMap, heatLegend} from "../charts/heat_map";
import {h} from "../dom";
import {count} from "../format";
import type {RankMapsData} from "../rank_maps_data";
import {section} from "./section";

const kTitles = {
  phase: "By phase",
  step: "By step, without what was lost waiting",
};

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
    const title = `Ranks ${kTitles[map.key].toLowerCase()}`;
    return [h("h3", {}, kTitles[map.key]), new HeatMap(job, map, title).element];
  });
  return section("rank-maps", "Ranks beside each other", words.join(""), ...maps, heatLegend());
}
