// What ran, where, and how it ended.
import type {PageData, Process} from "../data";
import {h, longName} from "../dom";
import {count, time} from "../format";
import {footnotes} from "./header_view";
import {section} from "./section";

export function runView(page: PageData): HTMLElement {
  const facts = page.facts.flatMap(({label, value}) => [h("dt", {}, label),
                                     h("dd", {}, longName(value)),
  ]);
  return section("run", "The run", "", h("dl", {class: "facts"}, ...facts), processes(page),
    footnotes(page.losses));
}

function processes(page: PageData): HTMLElement {
  const hasRanks = page.processes.some((process) => process.rank >= 0);
  const hasEnds = page.processes.some(({exit}) => exit !== "");
  const heads =
    kColumns.filter(({ofRanks, ofEnds}) => (hasRanks || !ofRanks) && (hasEnds || !ofEnds));
  const cells = heads.map(({name, type}) => h("th", {scope: "col", class: type ?? "real"}, name));
  const rows = page.processes.map((process) => row(page, process, hasRanks, hasEnds));
  const left = page.process_rows - page.processes.length;
  return h(
    "div",
    {class: "table"},
    h("div", {class: "scroll"},
      h("table", {}, h("thead", {}, h("tr", {}, ...cells)), h("tbody", {}, ...rows))),
    left > 0 ? h("p", {class: "muted"}, `${count(left)} more processes are in processes.csv.`)
             : null,
  );
}

interface ProcessColumn {
  name: string;
  type?: "text";
  ofRanks?: boolean;  // left out where no process has a rank
  ofEnds?: boolean;   // left out where no end is known
}
const kColumns: ProcessColumn[] = [
  {name: "Process", type: "text"},
  {name: "PID"},
  {name: "Rank", ofRanks: true},
  {name: "Started"},
  {name: "Ran"},
  {name: "Ended", type: "text", ofEnds: true},
  {name: "Threads"},
  {name: "Events"},
];

function depth(page: PageData, process: Process): number {
  let levels = 0;
  for (let at = process.parent; at >= 0 && levels < 32; at = page.processes[at].parent) ++levels;
  return levels;
}

function row(page: PageData, process: Process, hasRanks: boolean, hasEnds: boolean): HTMLElement {
  const ran = process.end_ns === null ? "–" : time(process.end_ns - process.start_ns);
  return h(
    "tr",
    {},
    h(
      "th",
      {scope: "row", class: "text", style: `--level:${depth(page, process)}`},
      h("div", {class: "tree-label"}, longName(process.command || process.name)),
      ),
    h("td", {class: "integer"}, String(process.pid)),
    hasRanks ? h("td", {class: "integer"}, process.rank < 0 ? "–" : String(process.rank)) : null,
    h("td", {class: "real"}, `+${time(process.start_ns)}`),
    h("td", {class: "real"}, ran),
    hasEnds ? h("td", {class: `text ${process.failed ? "bad" : ""}`}, process.exit || "–") : null,
    h("td", {class: "integer"}, count(process.threads)),
    h("td", {class: "integer"}, count(process.events)),
  );
}
