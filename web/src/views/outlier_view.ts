// The unusually long steps, each with what was longer in it.
import type {PageData, Steps} from "../data";
import {h} from "../dom";
import {count, time} from "../format";
import {findOutliers} from "../outliers";
import type {Excess, Outlier} from "../outliers";
import type {Range} from "../selection";
import {timelineLink} from "../timeline_link";

const kMost = 5;

export function outlierView(
  page: PageData, steps: Steps, select: (range: Range) => void): HTMLElement|null {
  const outliers = findOutliers(page, steps).sort((a, b) => b.ns - a.ns);
  if (outliers.length === 0) return null;
  const title = outliers.length === 1 ? "One unusually long step"
                                      : `${count(outliers.length)} unusually long steps`;
  const where = steps.idle_of_limit === undefined ? "" : ` on ${steps.track}`;
  const left = outliers.length - kMost;
  return h(
    "div",
    {class: "outliers"},
    h("h3", {}, title),
    h("ul", {}, ...outliers.slice(0, kMost).map((outlier) => item(page, outlier, where, select))),
    left > 0 ? h("p", {class: "muted"}, `and ${count(left)} shorter ones: triangles in the chart`)
             : null,
    h("p", {class: "muted"},
      `${page.outlier_rule} Each phase is compared with its median, calls with their mean.`),
  );
}

// `where`: a step of the GPU begins and ends with its work, which is not when that of the CPU does.
function item(
  page: PageData, outlier: Outlier, where: string, select: (range: Range) => void): HTMLElement {
  const button = h("button", {type: "button", class: "quiet"}, `Step ${outlier.step}`);
  button.addEventListener("click", () => select({first: outlier.entry, last: outlier.entry}));
  const calls = outlier.calls.length > 0 ? `; most of it in ${words(outlier.calls)}` : "";
  const {stage} = outlier;
  const why = stage ? `; ${time(stage.ns)} of it are the stage "${stage.name}" of the run.`
    : outlier.phases.length > 0 ? `: ${words(outlier.phases)}${calls}.`
                                : ".";
  return h("li", {}, button, timelineLink(page, {step: outlier.step}, `step ${outlier.step}`),
    ` took ${time(outlier.ns)}${where}, ${time(outlier.above_ns)} above the median${why}`);
}

function words(excesses: Excess[]): string {
  return excesses.map(({name, ns}) => `${name} +${time(ns)}`).join(", ");
}
