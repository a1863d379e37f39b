// The visible events as a table: the drawing in words, for screen readers and for copying. Only the
// rows in its window are elements of the page.
import {h} from "../../dom";
import {count, time} from "../../format";
import {moment} from "../draw/ruler";
import type {Hit, Model, RunView} from "../state/model";
import {csvOf} from "./range_data";
import type {Column} from "../../data";
import type {Stage} from "../stage/stage";
import {hitOf} from "../stage/stage";
import {firstEndingAfter, kBeginsBefore, startOf} from "../data/items";
import {stepNumber} from "../data/steps";

const kRowPx = 25;
const kMost = 20_000;
const kSettleMs = 150;
const kColumns: Column[] = [
  {key: "name", name: "Name", type: "text"},
  {key: "start", name: "Start", unit: "ns"},
  {key: "duration", name: "Duration", unit: "ns"},
  {key: "track", name: "Track", type: "text"},
  {key: "depth", name: "Depth"},
  {key: "events", name: "Events"},
  {key: "step", name: "Rounded to", unit: "ns", help: "what times are told to at this zoom"},
];

export class EventsPanel {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly box: HTMLElement;
  private readonly above = h("div");
  private readonly below = h("div");
  private readonly said = h("span", {class: "muted", role: "status"});
  private readonly table: HTMLElement;
  private readonly rounded: HTMLElement;  // over the last column, where any time is rounded
  private hits: Hit[] = [];
  private timer = 0;

  constructor(private readonly model: Model, private readonly stage: Stage,
    private readonly go: (run: RunView, ref: number) => void,
    private readonly isShown: () => boolean) {
    const head = kColumns.map(
      ({name}, i) => h("th", {scope: "col", class: i === 0 || i === 3 ? "text" : "real"}, name));
    this.rounded = head[head.length - 1];
    this.table =
      h("table", {"aria-label": "Visible events"}, h("thead", {}, h("tr", {}, ...head)), this.body);
    this.box =
      h("div", {class: "events-box", tabindex: "0", role: "region", "aria-label": "Visible events"},
        this.above, this.table, this.below);
    const copy =
      h("button", {type: "button", class: "quiet", click: () => void this.copy()}, "Copy CSV");
    this.element =
      h("div", {class: "events-panel"}, h("div", {class: "buttons"}, copy, this.said), this.box);
    this.box.addEventListener("scroll", () => this.draw());
    model.listen((change) => {
      if (["view", "layout", "data", "names"].includes(change) && this.isShown()) this.later();
    });
  }

  later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.collect(), kSettleMs);
  }

  private collect(): void {
    const {model, stage} = this;
    this.hits = [];
    for (const lane of stage.lanes) {
      const run = model.runOf(lane.block.track);
      if (lane.block.track.info?.counter) continue;
      for (const {data, from, to} of stage.itemsOf(lane))
        for (let i = firstEndingAfter(data, from);
             i < data.count && startOf(data, i) < to && this.hits.length < kMost; ++i)
          this.hits.push(hitOf(run, lane, data, i));
    }
    this.rounded.hidden = this.hits.every((hit) => roundedTo(hit) === null);
    const more = this.hits.length >= kMost ? ", zoom in for the rest" : "";
    this.said.textContent = `${
      this.hits.length.toLocaleString("en")} events or runs of short events in the window${more}`;
    this.table.setAttribute("aria-rowcount", String(this.hits.length + 1));
    this.draw();
  }

  private draw(): void {
    const rowPx = Math.round((kRowPx - 1) * this.model.scale) + 1;
    const first = Math.max(0, Math.floor(this.box.scrollTop / rowPx) - 5);
    const end = Math.min(this.hits.length, first + Math.ceil(this.box.clientHeight / rowPx) + 10);
    this.above.style.height = `${first * rowPx}px`;
    this.below.style.height = `${(this.hits.length - end) * rowPx}px`;
    const rows = this.hits.slice(first, end).map((hit, i) => this.row(hit, first + i));
    // Who goes from row to row with Tab stays in the row, which is another element now.
    const at = this.body.contains(document.activeElement)
      ? document.activeElement?.closest("tr")?.getAttribute("aria-rowindex")
      : undefined;
    this.body.replaceChildren(...rows);
    if (!at) return;
    const row = rows.find((one) => one.getAttribute("aria-rowindex") === at);
    (row?.querySelector("button") ?? this.box).focus({preventScroll: true});
  }

  private row(hit: Hit, index: number): HTMLElement {
    const button = h("button",
      {type: "button", class: "link", click: () => this.go(hit.run, hit.ref)}, nameOf(hit));
    const rounded = roundedTo(hit);
    return h("tr", {"aria-rowindex": index + 2}, h("td", {class: "text"}, button),
      h("td", {}, startOfHit(hit)), h("td", {}, lengthOf(hit)),
      h("td", {class: "text"}, hit.track.name), h("td", {}, String(hit.depth)),
      h("td", {}, count(hit.merged)),
      this.rounded.hidden ? null : h("td", {}, rounded === null ? "" : time(rounded)));
  }

  // With the whole times of all events, which may be still on their way.
  private async copy(): Promise<void> {
    await Promise.all(this.model.runs.map(({times}) => times.settle()));
    this.collect();
    const rows = this.hits.map((hit) => [nameOf(hit), hit.from - hit.run.offset, hit.to - hit.from,
                                 hit.track.name, hit.depth, hit.merged, roundedTo(hit)]);
    try {
      await navigator.clipboard.writeText(
        csvOf({key: "events", title: "Visible events", columns: kColumns, rows}));
      this.said.textContent = `${rows.length} rows copied`;
    } catch {
      this.said.textContent = "the browser does not allow it";
    }
  }
}

// Several short events in one box span less than two steps, so that of a part this much is known.
// null: times are as they were recorded.
export function roundedTo({cut, step}: Pick<Hit, "cut"|"step">): number|null {
  if (cut) return 2 * step;
  return step > 1 ? step : null;
}

function startOfHit({from, run, flags, cut, step}: Hit): string {
  const start = moment(from - run.offset, step);
  return cut && flags & kBeginsBefore ? `before ${start}` : start;
}

// Of what is drawn from afar no more is known than this.
function lengthOf({from, to, step, cut}: Hit): string {
  if (cut) return `over ${time(to - from)}`;
  if (step === 1) return time(to - from);
  return to > from ? `about ${time(to - from)}` : `under ${time(step)}`;
}

// A step is called by its number. Names that are not drawn come when they are asked for.
function nameOf({run, track, ref, name}: Hit): string {
  const number = track.kind === "steps" ? stepNumber(run, ref) : undefined;
  if (number !== undefined) return `step ${number}`;
  const label = run.names.label(name);
  return label === undefined ? "…" : label || "(no name)";
}
