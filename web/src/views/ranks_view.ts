// The page of `batchlight ranks`: what the terminal says and a line for each rank are in it
// already, the maps come between.
import {h} from "../dom";
import type {RanksPage} from "../rank_maps_data";
import {rankMapsView} from "./rank_maps_view";
import {section} from "./section";

export function ranksView(page: RanksPage): (HTMLElement|null)[] {
  const text = document.getElementById("ranks-text");
  const table = document.getElementById("rank-table");
  return [
    h("div", {class: "title", id: "top-of-page"}, h("h1", {}, "Ranks of a job")),
    section("waiting", "Who is waited for", "", text && h("div", {class: "scroll"}, text)),
    rankMapsView(page.rank_maps),
    section("every-rank", "Every rank", "",
      table &&
        h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Every rank"},
          table)),
  ];
}
