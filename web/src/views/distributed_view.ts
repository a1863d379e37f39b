// Several ranks: what each step is made of on every rank's GPU, who waits for whom, and what the
// collectives move at which bandwidth. The numbers are those of ranks.csv and collectives.csv.
import type { PageData, TableData } from "../data";
import { h } from "../dom";
import { percent, time } from "../format";
import { seriesColor } from "../palette";
import { Table } from "../table";
import { section } from "./section";

// Columns of the table of ranks that add up to the GPU's step, with their colours.
const kParts: [string, string, number][] = [
  ["Compute", "compute", 3],
  ["Communication", "communication, exposed", 8],
  ["Copies", "copies", 2],
  ["Idle", "idle", 0],
];

export function distributedView(page: PageData): HTMLElement | null {
  if (!page.distributed) return null;
  const ranks = page.tables.find(({ name }) => name === "ranks");
  const collectives = page.tables.find(({ name }) => name === "collectives");
  const lead = "Means per step that counts. Waited: kernel of a collective − its shortest kernel on any rank, as all leave it together.";
  return section(
    "distributed",
    "Ranks and collectives",
    lead,
    ...(page.distributed.verdict ? [h("p", { class: "verdict" }, page.distributed.verdict)] : []),
    ...(ranks ? [bars(ranks), table(page, ranks)] : []),
    ...(collectives ? [h("h3", {}, "Collectives"), table(page, collectives), formula()] : []),
  );
}

function bars(ranks: TableData): HTMLElement {
  const column = (name: string): (number | null)[] =>
    ranks.cells[ranks.columns.findIndex((other) => other.name === name)] ?? [];
  const parts = kParts.map(([name, label, color]) => ({ label, color, cells: column(name) }));
  const total = (row: number): number => parts.reduce((sum, part) => sum + (part.cells[row] ?? 0), 0);
  const names = column("Rank").map((rank, row) => (rank === null ? `process ${row}` : `rank ${rank}`));
  const longest = names.reduce((most, _, row) => Math.max(most, total(row)), 1);
  const lines = names.map((name, row) => {
    const words = parts.map((part) => `${part.label} ${time(part.cells[row] ?? 0)}`).join(", ");
    const boxes = parts.map((part) =>
      h("div", {
        style: `width:${(100 * (part.cells[row] ?? 0)) / longest}%;background:${seriesColor(part.color)}`,
        title: `${part.label}: ${time(part.cells[row] ?? 0)}, ${percent(part.cells[row] ?? 0, total(row))}`,
      }),
    );
    return h("div", { class: "rank" }, h("span", {}, name), h("div", { class: "rank-bar", role: "img", "aria-label": `GPU of ${name}: ${words}` }, ...boxes));
  });
  const legend = parts.map((part) =>
    h("span", {}, h("i", { class: "chip", style: `background:${seriesColor(part.color)}` }), part.label),
  );
  return h("div", { class: "ranks" }, h("div", { class: "legend" }, ...legend), ...lines);
}

function table(page: PageData, data: TableData): HTMLElement {
  return new Table(data, page.strings, page.labels, { rows: 16, filter: false }).element;
}

function formula(): HTMLElement {
  return h(
    "p",
    { class: "muted" },
    "Algorithm GB/s = size / mean shortest kernel, size = message (× ranks for AllGather, ReduceScatter, AlltoAll). ",
    "Bus GB/s = algorithm GB/s × 2(n−1)/n for AllReduce, × (n−1)/n for AllGather, ReduceScatter, AlltoAll, × 1 for others: the load of the slowest link, comparable with its peak.",
  );
}
