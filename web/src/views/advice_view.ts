// What to change: one card per finding with its evidence, the largest gain first.
import type {Evidence, Finding, PageData} from "../data";
import {h, longName} from "../dom";
import {count, percent, time} from "../format";
import {section} from "./section";

const kOpenFindings = 5;

export function adviceView(page: PageData): HTMLElement {
  const step_ns = page.training[0]?.tracks[0].summary.mean_ns ?? 0;
  const cards = page.advice.map((finding) => card(finding, page.advice, step_ns));
  if (cards.length === 0) {
    const none = "None of the rules found a problem in this recording.";
    return section("advice", "What to change", none);
  }
  const lead =
    "Each gain is an estimate for that change alone; together they gain less than their sum.";
  const rest = cards.slice(kOpenFindings);
  const more = h("summary", {}, `${count(rest.length)} more with less to gain`);
  return section(
    "advice",
    "What to change",
    lead,
    ...cards.slice(0, kOpenFindings),
    ...(rest.length > 0 ? [h("details", {class: "more"}, more, ...rest)] : []),
  );
}

function card(finding: Finding, all: Finding[], step_ns: number): HTMLElement {
  return h(
    "article",
    {class: "finding"},
    h("div", {class: "finding-head"}, h("h3", {}, finding.title), gain(finding, step_ns)),
    h("p", {}, finding.seen, " ", finding.why),
    h("p", {class: "action"}, h("b", {}, "Do: "), finding.action),
    sameTime(finding, all),
    evidence(finding),
  );
}

// Findings above whose gain partly overlaps this one's.
function sameTime(finding: Finding, all: Finding[]): HTMLElement|null {
  const titles =
    all.filter((other) => finding.same_time_as.includes(other.rule)).map((other) => other.title);
  if (titles.length === 0) return null;
  return h("p", {class: "muted"}, `Gains in part the same time as: ${titles.join("; ")}.`);
}

function gain(finding: Finding, step_ns: number): HTMLElement {
  if (finding.gain_ns <= 0) return h("span", {class: "gain muted"}, "gain not estimated");
  const share = step_ns > 0 ? `, ${percent(finding.gain_ns, step_ns)} of it` : "";
  const spread = finding.uncertainty_ns > 0 ? ` ± ${time(finding.uncertainty_ns)}` : "";
  return h("span", {class: "gain"}, `${time(finding.gain_ns)}${spread} per step${share}`);
}

function evidence(finding: Finding): HTMLElement {
  const rows = finding.evidence.map(
    (item: Evidence) => h(
      "tr",
      {},
      h("td", {class: "text muted"}, item.kind),
      h("td", {class: "text"}, longName(item.name)),
      h("td", {class: "integer"}, item.count > 0 ? `${count(item.count)} times` : ""),
      h("td", {class: "real"}, item.per_step_ns > 0 ? `${time(item.per_step_ns)} per step` : ""),
      ),
  );
  const summary = h("summary", {}, `Evidence, rule ${finding.rule}`);
  const table = h("div", {class: "scroll"}, h("table", {}, h("tbody", {}, ...rows)));
  return h("details", {class: "help"}, summary, rows.length > 0 ? table : null);
}
