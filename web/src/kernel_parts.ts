// What the tables of counters and of sampled instructions say of one kernel, put together.
import type {Column, PageData, TableData} from "./data";
import {cellsOf, chosenPart, rowCount} from "./table_sums";

// Of tables with a row for each measured kernel: its number, the same in each of them. The tables
// may have different rows.
const kNumber = "measured_kernel";
const kFirstReason = "selected";  // columns of reasons, in "stalls", begin and end with these
const kLastReason = "other";

export interface KernelEntry {
  kernel: number;         // strings: its name
  op: number|null;        // strings: that launches it
  share: number|null;     // of the GPU's time, or of samples where it was not measured
  measured: number|null;  // its number
  sampled: number|null;   // row of "stalls"
}

// A value with the column that says what it is.
export interface Value {
  column: Column;
  value: number|null;
}

export function tableOf(page: PageData, key: string): TableData|undefined {
  return page.tables.find((table) => table.key === key);
}

// Measured kernels by falling time, then those that were sampled alone.
export function kernelEntries(page: PageData): KernelEntry[] {
  const limits = tableOf(page, "kernel_limits");
  const stalls = tableOf(page, "stalls");
  const sampled = new Map<number, number>();
  if (stalls) cellsOf(stalls, "kernel").forEach((kernel, row) => sampled.set(kernel ?? -1, row));
  const entries: KernelEntry[] = [];
  const seen = new Set<number>();
  for (let row = 0; limits && row < rowCount(limits); ++row) {
    const kernel = cellsOf(limits, "kernel")[row];
    if (kernel === null) continue;
    seen.add(kernel);
    entries.push({
      kernel,
      op: cellsOf(limits, "operator")[row] ?? null,
      share: cellsOf(limits, "share")[row] ?? null,
      measured: cellsOf(limits, kNumber)[row] ?? null,
      sampled: sampled.get(kernel) ?? null,
    });
  }
  for (const [kernel, row] of sampled) {
    if (seen.has(kernel) || !stalls || kernel < 0) continue;
    const share = cellsOf(stalls, "share")[row] ?? null;
    entries.push({kernel, op: null, share, measured: null, sampled: row});
  }
  return entries;
}

// The value of a measured kernel; undefined where nothing of the kind was read.
export function measuredValue(
  page: PageData, entry: KernelEntry, table: string, key: string): Value|undefined {
  const data = tableOf(page, table);
  if (!data || entry.measured === null) return undefined;
  const row = cellsOf(data, kNumber).indexOf(entry.measured);
  return row < 0 ? undefined : valueAt(data, key, row);
}

export function valueAt(table: TableData, key: string, row: number): Value|undefined {
  const column = table.columns.find((one) => one.key === key);
  const value = cellsOf(table, key)[row];
  return column && value !== null && value !== undefined ? {column, value} : undefined;
}

// What its warps waited for, most samples first; in percent of them.
export function reasonsOf(page: PageData, entry: KernelEntry): Value[] {
  const stalls = tableOf(page, "stalls");
  if (!stalls || entry.sampled === null) return [];
  const {sampled} = entry;
  const keys = stalls.columns.map(({key}) => key);
  return keys.slice(keys.indexOf(kFirstReason), keys.indexOf(kLastReason) + 1)
    .map((key) => valueAt(stalls, key, sampled))
    .filter((one): one is Value => one !== undefined && (one.value ?? 0) > 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
}

// Its lines and instructions, in columns that are not the kernel's own; null: none were sampled.
export function linesOf(page: PageData, entry: KernelEntry): TableData|null {
  const lines = tableOf(page, "hot_lines");
  if (!lines) return null;
  const rows = cellsOf(lines, "kernel").flatMap((kernel, i) => kernel === entry.kernel ? [i] : []);
  if (rows.length === 0) return null;
  const shown =
    ["place", "source", "instruction", "kernel_share", "stalls", "samples", "not_issued"];
  const kept = shown.filter((key) => rows.some((row) => isSaid(page, lines, key, row)));
  return chosenPart(lines, kept, rows);
}

function isSaid(page: PageData, table: TableData, key: string, row: number): boolean {
  const value = valueAt(table, key, row);
  return value !== undefined && (value.column.type !== "text" || textOf(page, value) !== "");
}

export function textOf(page: PageData, value: Value|undefined): string {
  return value?.value === null || value === undefined ? "" : page.strings[value.value] ?? "";
}
