// The bar on top, what ran in one line, and what is missing from the recording.
import type {Loss, PageData, Process} from "../data";
import {h, prose, svg} from "../dom";
import {count, time} from "../format";
import {themeButton} from "../theme";
import {kTimelinePrefix} from "../timeline_link";

export function topBar(sections: {id: string; label: string}[]): HTMLElement {
  const links = sections.map(({id, label}) => h("a", {href: `#${id}`}, label));
  return h(
    "header",
    {class: "top-bar"},
    h("a", {class: "brand", href: "#top-of-page"}, logo(), "batchlight"),
    h("nav", {"aria-label": "Sections"}, ...links),
    themeButton(),
  );
}

// A lamp over a batch: three bars, the middle one lit.
function logo(): SVGElement {
  return svg(
    "svg",
    {viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true"},
    svg("rect", {x: 1, y: 9, width: 4.5, height: 10, rx: 1.2, fill: "var(--series-3)"}),
    svg("rect", {x: 7.75, y: 1, width: 4.5, height: 18, rx: 1.2, fill: "var(--series-1)"}),
    svg("rect", {x: 14.5, y: 6, width: 4.5, height: 13, rx: 1.2, fill: "var(--series-5)"}),
  );
}

export function titleBlock(page: PageData): HTMLElement {
  const ended = page.processes[page.main_process];
  const chips = [
    time(page.duration_ns),
    `${count(page.events)} events`,
    page.process_count === 1 ? "1 process" : `${count(page.process_count)} processes`,
  ].map((text) => h("span", {}, text));
  if (ended?.exit) chips.push(h("span", {class: exitClass(ended)}, ended.exit));
  if (page.timeline)
    chips.push(h("span", {}, h("a", {href: `#${kTimelinePrefix}`}, "Open the timeline")));
  return h(
    "div",
    {class: "title", id: "top-of-page"},
    h("h1", {}, page.title),
    h("code", {class: "command"}, page.command),
    h("div", {class: "chips"}, ...chips),
  );
}

function exitClass(process: Process): string {
  if (process.failed) return "bad";
  return process.succeeded ? "good" : "";
}

// Loss first: a reader must not take a partial recording for the whole. Notices say how the files
// were read; what matters less is a footnote.
export function lossBanner(losses: Loss[]): HTMLElement|null {
  const told = losses.filter(({severity}) => severity !== "info");
  if (told.length === 0) return null;
  const whole = told.every(({severity}) => severity === "notice");
  return h(
    "aside",
    {class: whole ? "banner" : "banner loss", role: "alert"},
    h("b", {}, whole ? "How these files were read" : "This recording is not complete"),
    h("ul", {}, ...lossItems(told)),
  );
}

export function footnotes(losses: Loss[]): HTMLElement|null {
  const items = lossItems(losses.filter(({severity}) => severity === "info"));
  return items.length > 0 ? h("ul", {class: "footnotes muted"}, ...items) : null;
}

function lossItems(losses: Loss[]): HTMLElement[] {
  return losses.map(
    (loss) => h("li", {class: loss.severity}, ...prose(loss.text),
      loss.advice ? h("span", {}, ` To do: ${loss.advice}.`) : null),
  );
}
