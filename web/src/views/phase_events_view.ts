// The events behind one phase, as the table that its row opens to.
import type {EventList, PageData, Steps} from "../data";
import {h, labelledName} from "../dom";
import {percent, significant, time} from "../format";
import {eventsOf} from "../phase_events";
import type {PhaseEvent} from "../phase_events";
import type {Range} from "../selection";
import {timelineLink} from "../timeline_link";

export function phaseEventsView(
  page: PageData, steps: Steps, phase: number, range: Range|null): Node[] {
  const sums = eventsOf(steps, phase, range);
  const label = steps.phases[phase].label;
  if (sums.events.length === 0) return [h("p", {class: "muted"}, "None in these steps.")];
  const longest = range ? "Longest (of all steady steps)" : "Longest";
  const heads = ["Event", "Of phase", "Per step", "Count per step", longest];
  const head =
    heads.map((name, i) => h("th", {scope: "col", class: i === 0 ? "text" : "real"}, name));
  const rows = sums.events.map((event) => row(page, steps, phase, event));
  const table = h(
    "table",
    {"aria-label": `Events of ${label}`},
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
  );
  const notes = [
    sums.coarse > 0 ? `Events of a long run are known in groups of up to ${
                        sums.coarse} steps: these are of all groups that the selection touches.`
                    : "",
    "All of them are in phase_events.csv.",
  ];
  return [table, h("p", {class: "muted"}, notes.join(" "))];
}

function row(page: PageData, steps: Steps, phase: number, event: PhaseEvent): HTMLElement {
  const list = steps.events!.lists[phase];
  const at = event.row;
  const share = 100 * event.share;
  return h(
    "tr",
    {},
    h("th", {scope: "row", class: "text"}, ...label(page, steps, phase, at)),
    h("td", {class: "real share", style: `--width:${share.toFixed(2)}%`}, percent(share, 100)),
    h("td", {class: "real"}, time(event.per_step_ns)),
    h("td", {class: "real"}, significant(event.count)),
    list.longest_step[at] < 0
      ? h("td", {class: "real none"}, "")
      : h(
          "td",
          {
            class: "real",
            title: `began ${time(list.longest_start_ns[at])} after the start of the recording`
          },
          `${time(list.longest_ns[at])} in step ${list.longest_step[at]}`,
          longestLink(page, list, at),
          ),
  );
}

function longestLink(page: PageData, list: EventList, at: number): HTMLElement|null {
  const from = list.longest_start_ns[at];
  return timelineLink(page, {from, to: from + list.longest_ns[at]}, "the longest");
}

// A name within a line of text, which wraps: only very long ones lose their middle.
const kLongest = 60;
function inText(page: PageData, string: number): HTMLElement {
  const name = page.strings[string];
  const shown = page.labels[string] ?? name;
  const cut =
    shown.length > kLongest ? `${shown.slice(0, kLongest - 16)}…${shown.slice(-15)}` : shown;
  return h("span", {title: name}, cut);
}

function label(page: PageData, steps: Steps, phase: number, at: number): Node[] {
  const list = steps.events!.lists[phase];
  const kind = page.event_kinds[list.kind[at]];
  const severalKinds = list.kind.some((other) => other !== list.kind[0]);
  const name = labelledName(page.strings[list.name[at]], page.labels[list.name[at]]);
  const [op, after, before] = [list.op[at], list.after[at], list.before[at]];
  const parts: (Node|string)[] = [];
  if (op !== null) parts.push(kind.key === "cuda_call" ? "in " : "from ", inText(page, op));
  // Where the CPU was inside nothing, such waits differ only in the work that the GPU began next.
  if (before !== null && !kind.name)
    parts.push("before ", inText(page, before), after !== null ? ", " : "");
  if (after !== null) parts.push("after ", inText(page, after));
  if (before !== null && kind.name)
    parts.push(after !== null ? ", before " : "before ", inText(page, before));
  return [
    h("div", {class: "tree-label"}, name,
      kind.name && severalKinds ? h("span", {class: "muted kind"}, kind.name) : null),
    ...(parts.length > 0 ? [h("div", {class: "muted where", title: "Of the longest one"}, ...parts)]
                         : []),
  ];
}
