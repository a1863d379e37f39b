// Several ranks: what each step is made of on every rank's GPU, who waits for whom, and what the
// collectives move at which bandwidth, over the selected steps. For the whole run the numbers are
// those of ranks.csv and collectives.csv.
import type {PageData, TableData} from "../data";
import {h} from "../dom";
import {count, percent, time} from "../format";
import {seriesColor} from "../palette";
import type {StepRange} from "../step_bins";
import {Table} from "../table";
import {cellsOf, tableOver} from "../table_sums";
import {binScopeOf} from "./bin_scope";
import {section} from "./section";

// Columns of the table of ranks that add up to the GPU's step, with their colours.
const kIdle = "idle";
const kParts: [string, string, number][] = [
  ["compute", "compute", 3],
  ["communication", "communication, exposed", 8],
  ["copies", "copies", 2],
  [kIdle, "idle", 0],
];

export class DistributedView {
  readonly element: HTMLElement|null = null;
  private readonly ranks: TableData|undefined;
  private readonly collectives: TableData|undefined;
  private readonly rankTable: Table|null;
  private readonly collectiveTable: Table|null;
  private readonly lead = h("p", {class: "lead"});
  private readonly verdict = h("p", {class: "verdict"});
  private readonly bars = h("div");
  private readonly note = h("p", {class: "muted"});

  constructor(private readonly page: PageData) {
    this.ranks = page.tables.find(({key}) => key === "ranks");
    this.collectives = page.tables.find(({key}) => key === "collectives");
    const make = (data: TableData|undefined): Table|null =>
      data ? new Table(data, page.strings, page.labels, {rows: 16, filter: false}) : null;
    this.rankTable = make(this.ranks);
    this.collectiveTable = make(this.collectives);
    if (!page.distributed) return;
    this.element = section(
      "distributed",
      "Ranks and collectives",
      "",
      this.lead,
      this.verdict,
      ...(this.rankTable ? [this.bars, this.rankTable.element] : []),
      ...(this.collectiveTable
          ? [h("h3", {}, "Collectives"), this.note, this.collectiveTable.element, formula()]
          : []),
    );
    this.show(null, "");
  }

  show(range: StepRange, label: string): void {
    const {distributed, bin_starts: starts} = this.page;
    if (!distributed) return;
    const scope = binScopeOf(this.page, range, label);
    this.lead.replaceChildren(
      "Means per step over ",
      ...scope,
      ". Waited: kernel of a collective − its shortest kernel on any rank, as all leave it together.",
    );
    const ranks = this.ranks && tableOver(this.ranks, starts, range);
    const collectives = this.collectives && tableOver(this.collectives, starts, range);
    // Judged once, over the steady steps: a few selected steps are no ground to name a rank.
    const verdict = this.page.distributed?.verdict ?? "";
    this.verdict.replaceChildren(range && verdict ? `In the whole run: ${verdict}` : verdict);
    if (ranks) {
      this.rankTable?.update(ranks);
      this.bars.replaceChildren(bars(ranks));
    }
    if (collectives) this.collectiveTable?.update(collectives);
    this.note.replaceChildren(
      ...(range ? this.noteOf(label) : ["Calls, kernel time and waiting of the whole run."]));
  }

  private noteOf(label: string): (string|Node)[] {
    const kept = this.collectives?.parts?.rows.length ?? 0;
    const all = this.collectives?.total_rows ?? 0;
    const left = all > kept
      ? ` Only the ${count(kept)} with most kernel time of ${count(all)} are kept by steps.`
      : "";
    return ["Calls, kernel time and waiting in ", h("mark", {}, label), `.${left}`];
  }
}

function bars(ranks: TableData): HTMLElement {
  const parts =
    kParts.map(([key, label, color]) => ({key, label, color, cells: cellsOf(ranks, key)}));
  const total = (row: number): number =>
    parts.reduce((sum, part) => sum + (part.cells[row] ?? 0), 0);
  const names =
    cellsOf(ranks, "rank").map((rank, row) => (rank === null ? `process ${row}` : `rank ${rank}`));
  const longest = names.reduce((most, _, row) => Math.max(most, total(row)), 1);
  const lines = names.map((name, row) => {
    const words = parts.map((part) => `${part.label} ${time(part.cells[row] ?? 0)}`).join(", ");
    const boxes = parts.map(
      (part) => h("div", {
        class: part.key === kIdle ? "idle" : "",
        style: `width:${(100 * (part.cells[row] ?? 0)) / longest}%;${fillOf(part)}`,
        title: `${part.label}: ${time(part.cells[row] ?? 0)}, ${
          percent(part.cells[row] ?? 0, total(row))}`,
      }),
    );
    return h("div", {class: "rank"}, h("span", {}, name),
      h("div", {class: "rank-bar", role: "img", "aria-label": `GPU of ${name}: ${words}`},
        ...boxes));
  });
  const legend = parts.map(
    (part) => h("span", {},
      h("i", {class: part.key === kIdle ? "chip idle" : "chip", style: fillOf(part)}), part.label),
  );
  return h("div", {class: "ranks"}, h("div", {class: "legend"}, ...legend), ...lines);
}

function fillOf({key, color}: {key: string; color: number}): string {
  return `background-color:${seriesColor(color, key === kIdle)}`;
}

function formula(): HTMLElement {
  return h(
    "p",
    {class: "muted"},
    "Algorithm GB/s = size / mean shortest kernel, size = message (× ranks for AllGather, ReduceScatter, AlltoAll). ",
    "Bus GB/s = algorithm GB/s × 2(n−1)/n for AllReduce, × (n−1)/n for AllGather, ReduceScatter, AlltoAll, × 1 for others: the load of the slowest link, comparable with its peak.",
  );
}
