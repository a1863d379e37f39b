// Two runs compared: whether a step is slower, how sure that is, and where the difference comes
// from. The rows of a list add up to its last row.
import type {Change, ChangeList, Diff, DiffSide} from "../diff_data";
import {h, longName} from "../dom";
import {count, fixed, percent, significant, time} from "../format";
import {section} from "./section";
import {tabs} from "./tabs";

const kRows = 30;

export function diffView(diff: Diff): HTMLElement[] {
  const lists = Object.values(diff.lists ?? {});
  const panels = lists.map((list) => ({label: list.title, content: () => changes(list)}));
  const lead = "Means per step. The rows add up to the last one.";
  return [
    h(
      "section",
      {id: "overview", "aria-label": "Overview"},
      h("div", {class: "hero"}, headline(diff), sides(diff)),
      ),
    ...(diff.gates?.length ? [gates(diff)] : []),
    ...(panels.length > 0
        ? [section("changes", "Where the difference comes from", lead, tabs("changes", panels))]
        : []),
    ...(diff.not_the_same?.length ? [notTheSame(diff)] : []),
  ];
}

function headline(diff: Diff): HTMLElement {
  if (diff.problem) {
    return h("div", {class: "headline"}, h("div", {class: "label"}, "Not comparable"),
      h("p", {}, diff.problem));
  }
  const direction = diff.difference_ns > 0 ? "slower" : "faster";
  const tone = !diff.sure ? "" : diff.difference_ns > 0 ? "bad" : "good";
  const big = diff.sure ? `${fixed(100 * Math.abs(diff.relative), 1)}` : "no";
  const unit = diff.sure ? `% ${direction}` : "difference";
  return h(
    "div",
    {class: "headline"},
    h("div", {class: "label"}, "A step of B is"),
    h("div", {class: `big ${tone}`}, big, h("small", {}, unit)),
    h("p", {class: "scope"}, diff.verdict),
    interval(diff),
  );
}

// The 95 % interval of the difference as a bar around zero.
function interval(diff: Diff): HTMLElement|null {
  if (!diff.interval_ns) return null;
  const [low, high] = diff.interval_ns;
  const reach = 1.15 * Math.max(Math.abs(low), Math.abs(high), 1);
  const at = (ns: number): number => 50 + (50 * ns) / reach;
  const label = `95 % interval of the difference: ${signed(low)} to ${signed(high)}`;
  return h(
    "div",
    {class: "interval", role: "img", "aria-label": label, title: label},
    h("i", {class: "zero"}),
    h("i", {class: "range", style: `left:${at(low)}%;width:${at(high) - at(low)}%`}),
    h("i", {class: "point", style: `left:${at(diff.difference_ns)}%`}),
  );
}

function sides(diff: Diff): HTMLElement {
  const rows: [string, (side: DiffSide) => string][] = [
    ["Recording", (side) => side.source],
    ["Command", (side) => side.command],
    ["Steps", (side) => count(side.steps)],
    ["Mean step", (side) => time(side.mean_ns)],
    ["Median", (side) => time(side.median_ns)],
    ["p95", (side) => side.p95_ns === null ? "–" : time(side.p95_ns)],
  ];
  return pairs(rows.map(([name, of]) => [name, of(diff.a), of(diff.b)]));
}

function pairs(rows: [string, string, string][]): HTMLElement {
  const head = ["", "A", "B"].map((name) => h("th", {scope: "col", class: "text"}, name));
  const body = rows.map(
    ([name, a, b]) => h(
      "tr",
      {},
      h("th", {scope: "row", class: "text"}, name),
      h("td", {class: "text"}, longName(a)),
      h("td", {class: "text"}, longName(b)),
      ),
  );
  return h("div", {class: "scroll"},
    h("table", {class: "pairs"}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body)));
}

function gates(diff: Diff): HTMLElement {
  const items =
    (diff.gates ?? [])
      .map(
        (gate) => h(
          "li",
          {},
          h("b", {class: gate.failed ? "bad" : "good"}, gate.failed ? "failed" : "passed"),
          " ",
          h("code", {}, gate.gate),
          `: ${gate.finding}`,
          ),
      );
  return section("gates", "Gates", "", h("ul", {}, ...items));
}

function notTheSame(diff: Diff): HTMLElement {
  const rows =
    (diff.not_the_same ?? []).map(({what, a, b}): [string, string, string] => [what, a, b]);
  return section(
    "not-the-same", "What is not the same", "Besides the code, these differ.", pairs(rows));
}

function changes(list: ChangeList): HTMLElement {
  const all = list.changes ?? [];
  const listed = all.filter((change) => change.change !== "rest");
  const folded = listed.slice(kRows);
  const rows = listed.slice(0, kRows);
  if (folded.length > 0) rows.push(sum(`${count(folded.length)} others`, folded));
  rows.push(...all.filter((change) => change.change === "rest"));
  const largest = rows.reduce((most, row) => Math.max(most, Math.abs(row.b_ns - row.a_ns)), 1);
  const hasCalls = rows.some((row) => row.a_calls + row.b_calls > 0);
  const names = ["Name", "A", "B", "Difference", "", "", ...(hasCalls ? ["Calls per step"] : [])];
  const head =
    names.map((name, i) => h("th", {scope: "col", class: i === 0 ? "text" : "real"}, name));
  const total = sum(list.whole, [{...kNothing, a_ns: list.a_ns, b_ns: list.b_ns}]);
  return h(
    "div",
    {class: "scroll"},
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head)),
      h("tbody", {}, ...rows.map((row) => changeRow(row, largest, hasCalls))),
      h("tfoot", {},
        changeRow(total, Math.max(largest, Math.abs(list.b_ns - list.a_ns)), hasCalls)),
      ),
  );
}

const kNothing: Change = {
  name: "",
  change: "rest",
  a_ns: 0,
  b_ns: 0,
  a_calls: 0,
  b_calls: 0
};

function sum(name: string, parts: Change[]): Change {
  return parts.reduce(
    (total, part) => ({...total, a_ns: total.a_ns + part.a_ns, b_ns: total.b_ns + part.b_ns}),
    {...kNothing, name},
  );
}

function changeRow(change: Change, largest: number, hasCalls: boolean): HTMLElement {
  const delta = change.b_ns - change.a_ns;
  const width = `width:${(50 * Math.abs(delta)) / largest}%`;
  const side = delta > 0 ? "more" : "less";
  const calls = change.a_calls || change.b_calls
    ? `${significant(change.a_calls)} → ${significant(change.b_calls)}`
    : "";
  const relative =
    change.a_ns > 0 ? ` (${delta > 0 ? "+" : ""}${percent(delta, change.a_ns)})` : "";
  return h(
    "tr",
    {},
    h("th", {scope: "row", class: "text"}, longName(change.name)),
    h("td", {class: "real"}, time(change.a_ns)),
    h("td", {class: "real"}, time(change.b_ns)),
    h("td", {class: "real"}, signed(delta) + relative),
    h("td", {class: "delta"}, h("div", {class: side, style: width})),
    h("td", {class: "text muted"}, change.change === "rest" ? "" : change.change),
    hasCalls ? h("td", {class: "real"}, calls) : null,
  );
}

function signed(ns: number): string {
  return ns > 0 ? `+${time(ns)}` : ns < 0 ? `−${time(-ns)}` : "0";
}
