// What to change: one card per finding with its evidence, the largest gain first.
import type {Evidence, Finding, PageData} from "../data";
import {h, longName, prose} from "../dom";
import {count, time} from "../format";
import {timelineLink} from "../timeline_link";
import {section} from "./section";

const kOpenFindings = 5;

export function adviceView(page: PageData): HTMLElement|null {
  const cards = page.advice.map((finding) => card(page, finding));
  if (cards.length === 0) return null;
  const lead = "Each gain is an estimate for that change alone. " +
    (page.advice_together || "Together they gain less than their sum.");
  const rest = cards.slice(kOpenFindings);
  const more = h("summary", {}, `${count(rest.length)} more with less to gain`);
  const whose = page.training[0]?.whose;
  return section(
    "advice",
    "What to change" + (whose ? `, ${whose}` : ""),
    lead,
    ...cards.slice(0, kOpenFindings),
    ...(rest.length > 0 ? [h("details", {class: "more"}, more, ...rest)] : []),
  );
}

function card(page: PageData, finding: Finding): HTMLElement {
  return h(
    "article",
    {class: "finding"},
    h("div", {class: "finding-head"}, h("h3", {}, ...prose(finding.title)), gain(finding)),
    h("p", {}, ...prose(finding.seen), " ", ...prose(finding.why)),
    h("p", {class: "action"}, h("b", {}, "Do: "), ...prose(finding.action)),
    patch(finding),
    sameTime(finding, page.advice),
    inTimeline(page, finding),
    evidence(page, finding),
  );
}

// Findings above whose gain partly overlaps this one's.
function sameTime(finding: Finding, all: Finding[]): HTMLElement|null {
  const titles =
    all.filter((other) => finding.same_time_as.includes(other.rule)).map((other) => other.title);
  if (titles.length === 0) return null;
  return h(
    "p", {class: "muted"}, ...prose(`Gains in part the same time as: ${titles.join("; ")}.`));
}

function gain(finding: Finding): HTMLElement {
  if (finding.gain !== "") return h("span", {class: "gain"}, finding.gain);
  const why = finding.symptom ? "a sign of another cause" : "gain not estimated";
  return h("span", {class: "gain muted"}, why);
}

// The lines to change, to copy; those that go and those that come differ by their first character.
function patch(finding: Finding): HTMLElement|null {
  if (finding.diff === "") return null;
  const place = finding.place === "" ? null : h("p", {class: "muted"}, finding.place);
  return h("div", {class: "patch"}, place, h("pre", {class: "scroll"}, finding.diff));
}

function evidence(page: PageData, finding: Finding): HTMLElement {
  const rows = finding.evidence.map(
    (item: Evidence) => h(
      "tr",
      {},
      h("td", {class: "text muted"}, item.kind),
      h("td", {class: "text"}, longName(item.name), place(page, item)),
      h("td", {class: "integer"}, item.count > 0 ? `${count(item.count)} times` : ""),
      h("td", {class: "real"}, item.per_step_ns > 0 ? `${time(item.per_step_ns)} per step` : ""),
      ),
  );
  const summary = h("summary", {}, `Evidence, rule ${finding.rule}`);
  const table = h("div", {class: "scroll"}, h("table", {}, h("tbody", {}, ...rows)));
  return h("details", {class: "help"}, summary, rows.length > 0 ? table : null);
}

function place(page: PageData, {place, name}: Evidence): HTMLElement|null {
  return place && timelineLink(page, place, name);
}

// Of what it is a link to.
function wordsFor({kind, name, place}: Evidence): string {
  if (place && "step" in place) return `Step ${place.step} in the timeline`;
  const time = kind === "place" ? "time " : kind === "function" ? "time in " : "";
  return `The longest ${time}${name} in the timeline`;
}

// To the event among the evidence that takes most time.
function inTimeline(page: PageData, {evidence, shown}: Finding): HTMLElement|null {
  const item: Evidence|undefined = evidence[shown];
  const link = item?.place && timelineLink(page, item.place, item.name, wordsFor(item));
  return link ? h("p", {class: "see"}, link) : null;
}
