// A table over the selected steps, computed by the rules of its columns; and its columns by key.
import type {RowEvents, TableData} from "./data";
import {evaluate, partsOver, sum} from "./sums";
import type {PickedParts} from "./sums";
import {touchedBins} from "./step_bins";
import type {StepRange} from "./step_bins";

type Cells = readonly(number|null)[];

export function rowCount(table: TableData): number {
  return table.cells[0]?.length ?? 0;
}

// The cells of a column by its key; none where the table does not have it.
export function cellsOf(table: TableData, key: string): Cells {
  return table.cells[table.columns.findIndex((column) => column.key === key)] ?? [];
}

// Some of its columns, in the order of `keys`, and some of its rows.
export function chosenPart(
  table: TableData, keys: readonly string[], rows: readonly number[]): TableData {
  const kept = keys.filter((key) => table.columns.some((column) => column.key === key));
  return {
    ...table,
    events: table.events && eventsOf(table.events, rows),
    total_rows: rows.length,
    columns: kept.flatMap((key) => table.columns.filter((column) => column.key === key)),
    cells: kept.map((key) => rows.map((row) => cellsOf(table, key)[row] ?? null)),
  };
}

// The table itself if nothing is selected or nothing is known per step.
export function tableOver(
  table: TableData, firstStep: readonly number[], range: StepRange): TableData {
  const {parts} = table;
  if (!parts || !range) return table;
  const all = parts.all && partsOver(parts.all, firstStep, range);
  const rows = parts.rows.slice(0, rowCount(table)).map((row): PickedParts => {
    const own = partsOver({counts: parts.all?.counts, ...row}, firstStep, range);
    return {of: {...all?.of, ...own.of}};
  });
  const shown = rows.flatMap(({of}, row) => {
    const key = parts.only_with;
    return key === undefined || sum(of[key] ?? []) > 0 ? [row] : [];
  });
  return {
    ...table,
    events: table.events && eventsOf(table.events, shown),
    total_rows: shown.length,
    columns:
      table.columns.map((column) => ({...column, help: column.help_of_steps ?? column.help})),
    cells: table.columns.map(({sum: rule}, i) => shown.map(
                               (row) => rule ? evaluate(rule, rows[row]) : table.cells[i][row])),
  };
}

function eventsOf(events: RowEvents, rows: readonly number[]): RowEvents {
  if ("names" in events) return {...events, names: rows.map((row) => events.names[row])};
  return {from: rows.map((row) => events.from[row]), to: rows.map((row) => events.to[row])};
}

// True if something has a number under `key` in the selected steps, whether or not they count;
// `seen` counts how often.
export function isKnown(table: TableData, key: string, seen: string, firstStep: readonly number[],
  range: StepRange): boolean {
  const bins = touchedBins(firstStep, range);
  return (table.parts?.rows ?? []).some(({of}) => {
    const times = of[seen] ?? [];
    return of[key] !== undefined && sum(bins.map((bin) => times[bin] ?? 0)) > 0;
  });
}
