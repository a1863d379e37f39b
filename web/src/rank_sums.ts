// Ranks and collectives over the steps that are selected: the tables "ranks" and "collectives" with
// other cells, and who waits for whom. The rules are those of src/analysis/ranks/collectives.cpp.
import type {CollectiveBins, ProcessBins, RankBins, TableData} from "./data";
import {percent, time} from "./format";
import {selectedBins, sumOver, touchedBins} from "./step_bins";
import type {StepRange} from "./step_bins";

function ratio(part: number, whole: number): number|null {
  return whole > 0 ? part / whole : null;
}

// The table with the cells of some columns, by name, replaced.
function withCells(
  table: TableData, rows: readonly number[], cells: Record<string, (number | null)[]>): TableData {
  return {
    ...table,
    total_rows: rows.length,
    columns: table.columns.map(
      (column) => ({...column, help: column.help.replace("In the whole run", "In these steps")})),
    cells: table.columns.map(({name}, i) => cells[name] ?? rows.map((row) => table.cells[i][row])),
  };
}

const kOfWindows: [string, keyof RankBins][] = [
  ["Compute", "compute_ns"],
  ["Communication", "communication_ns"],
  ["Hidden", "hidden_ns"],
  ["Copies", "copies_ns"],
  ["Idle", "idle_ns"],
];

// Means per step, as in the table of the whole run: of the GPU over the steps that have a window.
export function ranksOver(
  table: TableData,
  ranks: readonly RankBins[],
  firstStep: readonly number[],
  range: StepRange,
  ): TableData {
  const shown = ranks.slice(0, table.cells[0]?.length ?? 0);
  const bins = shown.map((rank) => selectedBins(firstStep, rank.counts, range));
  const mean = (key: keyof RankBins, over: "steps"|"windows"): (number|null)[] =>
    shown.map((rank, i) => ratio(sumOver(rank[key], bins[i]), sumOver(rank[over], bins[i])));
  const cells: Record<string, (number | null)[]> = {
    Step: mean("step_ns", "steps"),
    Waited: mean("waited_ns", "steps"),
  };
  for (const [name, key] of kOfWindows) cells[name] = mean(key, "windows").map((ns) => ns ?? 0);
  return withCells(table, shown.map((_, row) => row), cells);
}

// `all`: the steps of all ranks together.
export function collectivesOver(
  table: TableData,
  collectives: readonly CollectiveBins[],
  firstStep: readonly number[],
  all: ProcessBins,
  range: StepRange,
  ): TableData {
  const bins = selectedBins(firstStep, all.counts, range);
  const all_steps = sumOver(all.steps, bins);
  const sum =
    (row: number, key: "calls"|"timed"|"matched"|"kernel_ns"|"waited_ns"|"shortest_ns"): number =>
      sumOver(collectives[row][key], bins);
  const rows = collectives.map((_, row) => row)
                 .filter((row) => row < (table.cells[0]?.length ?? 0) && sum(row, "calls") > 0);
  const shortest = rows.map((row) => ratio(sum(row, "shortest_ns"), sum(row, "matched")));
  const algorithm = rows.map(
    (row, i) =>
      (shortest[i] ? collectives[row].size_bytes / shortest[i]! : null));  // bytes/ns = GB/s
  return withCells(table, rows, {
    Calls: rows.map((row) => sum(row, "calls")),
    "Calls per Step": rows.map((row) => ratio(sum(row, "calls"), all_steps)),
    "Kernel Time": rows.map((row) => sum(row, "kernel_ns")),
    Average: rows.map((row) => ratio(sum(row, "kernel_ns"), sum(row, "timed"))),
    Waited: rows.map((row) => (collectives[row].knows_waits ? sum(row, "waited_ns") : null)),
    Shortest: shortest,
    "Algorithm GB/s": algorithm,
    "Bus GB/s": rows.map(
      (row, i) => (algorithm[i] === null ? null : algorithm[i]! * collectives[row].bus_factor)),
  });
}

// The rank for which the others wait: it waits less than a third of what they do on average, and
// that is at least 2 % of a step. `cells` are columns of the table of ranks.
export function straggler(
  ranks: readonly(number | null)[],
  waited: readonly(number | null)[],
  step_ns: readonly(number | null)[],
  ): string {
  const none = "No straggler: the ranks wait for each other in turn.";
  if (waited.length < 2) return "";
  const ns = waited.map((value) => value ?? 0);
  const least = ns.reduce((best, value, row) => (value < ns[best] ? row : best), 0);
  const others = (ns.reduce((sum, value) => sum + value, 0) - ns[least]) / (ns.length - 1);
  const step = step_ns[least] ?? 0;
  if (ns[least] * 3 > others || others < 0.02 * step) return none;
  const gap = others - ns[least];
  return `The others wait ${time(gap)} per step for rank ${ranks[least]}, ${
    percent(gap, Math.max(1, step))} of a step.`;
}

export function knowsWaits(
  collectives: readonly CollectiveBins[], firstStep: readonly number[], range: StepRange): boolean {
  const bins = touchedBins(firstStep, range);
  return collectives.some((row) => row.knows_waits && sumOver(row.calls, bins) > 0);
}
