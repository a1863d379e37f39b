// Tables of a range as the report's table code wants them, as CSV and as text.
import type {Column, TableData} from "../../data";
import {columnFormat, ownFormat} from "../../format";
import type {RangeTable} from "../data/protocol";
import type {Range} from "../state/model";
import type {Span} from "../state/viewport";

// What was typed as the ends of a range, in ms, as far as the run (`whole`) goes; a text says why
// it is none.
export function askedTime(first: string, last: string, whole: Span): Span|string {
  const typed = [first, last].map((text) => text.trim());
  if (typed.includes("")) return "Type both times, in milliseconds.";
  const wrong = typed.find((text) => !Number.isFinite(Number(text)));
  if (wrong !== undefined)
    return `\u201c${wrong}\u201d is no time: type milliseconds as a number, such as 16600.5.`;
  const [from, to] = typed.map((text) => Number(text) * 1e6);
  if (to <= from) return "The second time is not after the first.";
  const within = {from: Math.max(from, whole.from), to: Math.min(to, whole.to)};
  return within.to > within.from ? within
                                 : `Nothing was recorded then: the run goes from ${
                                     msText(whole.from)} to ${msText(whole.to)} ms.`;
}

function msText(ns: number): string {
  return (ns / 1e6).toFixed(3);
}

// The steps that were typed; without a last one the first alone, or "180-500". A text says why it
// is none.
export function askedSteps(first: string, last: string): {first: number; last: number}|string {
  const both = last.trim() === "" ? /^\s*(\d+)\s*[-\u2013]\s*(\d+)\s*$/.exec(first) : null;
  const typed = both ? both.slice(1) : [first.trim(), last.trim() || first.trim()];
  if (typed[0] === "") return "Type the number of a step, or of the first and the last.";
  const wrong = typed.find((text) => !/^\d+$/.test(text));
  if (wrong !== undefined)
    return `\u201c${wrong}\u201d is no step: type a whole number, such as 28.`;
  const [one, other] = typed.map(Number);
  return other < one ? "The last step is before the first." : {first: one, last: other};
}

// How a range is asked for: whole steps by their numbers, which are those of one process.
export function partOf(range: Range, offset: number) {
  if (range.steps) {
    const {first, last, process} = range.steps;
    return {first_step: first, last_step: last, ...(process ? {process} : {})};
  }
  return {
    from: String(Math.round(range.from - offset)),
    to: String(Math.round(range.to - offset)),
  };
}

export interface TextTable {
  table: TableData;
  strings: string[];
}

// A step that compiles takes thousands of times what the others do.
export function hasOwnUnits({key}: RangeTable): boolean {
  return key === "steps";
}

// Column-wise, with texts by number: those that there are, and more.
export function tableOf(
  {key, title, columns, rows}: RangeTable, strings: string[] = []): TextTable {
  const ids = new Map(strings.map((text, id) => [text, id]));
  const idOf = (text: string): number => {
    let id = ids.get(text);
    if (id === undefined) {
      id = strings.push(text) - 1;
      ids.set(text, id);
    }
    return id;
  };
  const cells = columns.map((_, i) => rows.map((row) => {
    const cell = row[i];
    return typeof cell === "string" ? idOf(cell) : cell ?? null;
  }));
  return {table: {key, title, csv: "", total_rows: rows.length, columns, cells}, strings};
}

const kQuoted = ["\"", ",", "\n", "\r"];

function headingOf({name, unit}: Column): string {
  const words: Record<string, string> = {ns: "ns", bytes: "B", rate: "B/s", "%": "%"};
  const word = words[unit ?? ""];
  return word ? `${name} (${word})` : name;
}

function bareNumber({type, unit, decimals}: Column, value: number): string {
  if (type !== "real") return String(Number.isInteger(value) ? value : Math.round(value));
  return value.toFixed(unit === undefined || unit === "%" ? decimals ?? 2 : 1);
}

// As `batchlight table --format csv` writes it: bare numbers, one unit in the header.
export function csvOf({columns, rows}: RangeTable): string {
  const quoted = (text: string): string =>
    kQuoted.some((sign) => text.includes(sign)) ? `"${text.split("\"").join("\"\"")}"` : text;
  const head = columns.map((column) => quoted(headingOf(column)));
  const text = (cell: string|number|null, i: number): string => {
    if (cell === null) return "";
    return typeof cell === "number" ? bareNumber(columns[i], cell) : quoted(cell);
  };
  const lines = rows.map((row) => row.map(text).join(","));
  return [head.join(","), ...lines].join("\n") + "\n";
}

// As it is shown, columns aligned.
export function textOf(table: RangeTable): string {
  const {columns, rows} = table;
  const shown = columns.map((column, i) => {
    const numbers =
      rows.map((row) => row[i]).filter((cell): cell is number => typeof cell === "number");
    const {unit, text} = hasOwnUnits(table) ? ownFormat(column) : columnFormat(column, numbers);
    const cells = rows.map((row) => {
      const cell = row[i];
      if (cell === null || cell === undefined) return "–";
      return typeof cell === "string" ? cell : text(cell);
    });
    const all = [unit ? `${column.name} (${unit})` : column.name, ...cells];
    const width = all.reduce((most, cell) => Math.max(most, cell.length), 0);
    return all.map((cell) => column.type === "text" ? cell.padEnd(width) : cell.padStart(width));
  });
  const lines =
    (shown[0] ?? []).map((_, line) => shown.map((column) => column[line]).join("  ").trimEnd());
  return lines.join("\n") + "\n";
}

// Of one step, what these say of several is its time itself.
const kOverSteps = ["median", "p5", "p95", "total"];
const kParts = ["phases", "gpu_parts"];

export function ofOneStep(table: RangeTable): RangeTable {
  const {columns, rows} = table;
  const hasMean = columns.some(({key}) => key === "mean");
  if (!kParts.includes(table.key) || !hasMean) return table;
  const kept = columns.flatMap(({key}, i) => kOverSteps.includes(key) ? [] : [i]);
  return {
    ...table,
    columns: kept.map((i) => columns[i]),
    rows: rows.map((row) => kept.map((i) => row[i])),
  };
}

const kSides = [["a", "A"], ["b", "B"], ["change", "B - A"]];

function largestIn(rows: RangeTable["rows"], column: number): number {
  return rows.reduce((most, row) => Math.max(most, Number(row[column] ?? 0)), 0);
}

// Numbers that say which thing a row is about, in both runs, and such as are of one run alone.
const kMatched = ["rank", "device", "step", "depth"];
const kOfOneRun = ["pid", "tid", "stream", "streams", "registers", "start"];

// Texts that name a row besides its first one, by table.
const kNamedBy: Record<string, string[]> = {
  events: ["kind", "name"],
  operators_by_shape: ["shapes"],
  roofline: ["inputs"],
  waits: ["operator"],
};

type Row = RangeTable["rows"][number];

// Pairs of rows that are the same thing in both: those with the same texts first, then of what is
// left those with the same name, which another grid or kind of memory tells apart. Each once.
function pairsOf(a: Row[], b: Row[],
  keys: ((row: Row, ofB: boolean) => string)[]): [Row|undefined, Row|undefined][] {
  const partner = new Map<Row, Row>();
  const taken = new Set<Row>();
  for (const keyOf of keys) {
    const free = new Map<string, Row[]>();
    for (const row of b) {
      if (taken.has(row)) continue;
      const key = keyOf(row, true);
      const rows = free.get(key);
      if (rows) rows.push(row);
      else free.set(key, [row]);
    }
    for (const row of a) {
      const other = partner.has(row) ? undefined : free.get(keyOf(row, false))?.shift();
      if (!other) continue;
      partner.set(row, other);
      taken.add(other);
    }
  }
  return [
    ...a.map((row): [Row, Row|undefined] => [row, partner.get(row)]),
    ...b.filter((row) => !taken.has(row)).map((row): [undefined, Row] => [undefined, row])
  ];
}

// Two runs side by side: for each number that tables of both have, A, B and B - A. Rows are matched
// by what names them, as `batchlight diff` does: their name, rank, GPU and step. A text that
// differs is both, A's and B's.
export function joined(a: RangeTable, b: RangeTable): RangeTable {
  const told = (rows: RangeTable["rows"], at: number): boolean =>
    at >= 0 && rows.some((row) => row[at] !== null);
  const inB = ({key}: Column): number => b.columns.findIndex((other) => other.key === key);
  const isNumbered = (column: Column, i: number): boolean =>
    kMatched.includes(column.key) && !column.unit && (told(a.rows, i) || told(b.rows, inB(column)));
  const shown =
    a.columns.flatMap((column, i) => column.type === "text" || isNumbered(column, i) ? [i] : []);
  const numbers = a.columns.flatMap((column, i) => {
    const other = inB(column);
    const compared = other >= 0 && column.type !== "text" && !shown.includes(i) &&
      ![...kMatched, ...kOfOneRun].includes(column.key) && (told(a.rows, i) || told(b.rows, other));
    return compared ? [{column, i, other}] : [];
  });
  const stepwise = shown.some((i) => a.columns[i].key === "step" && isNumbered(a.columns[i], i));
  const texts = shown.filter((i) => a.columns[i].type === "text");
  const names = shown.filter((i) => {
    const {key, type} = a.columns[i];
    if (type !== "text") return true;
    return !stepwise && (i === texts[0] || kNamedBy[a.key]?.includes(key));
  });
  const keyBy = (at: number[]): ((row: Row, ofB: boolean) => string) => {
    const atB = at.map((i) => inB(a.columns[i]));
    return (row, ofB) => (ofB ? atB : at).map((i) => String(row[i] ?? "")).join("\u0000");
  };
  const cell = (i: number, left: Row|undefined, right: Row|undefined): string|number|null => {
    const [x, y] = [left?.[i], right?.[inB(a.columns[i])]];
    if (!left || !right || x === y || a.columns[i].type !== "text") return (left ? x : y) ?? null;
    return `${x || "–"} / ${y || "–"}`;
  };
  const rows =
    pairsOf(a.rows, b.rows, [keyBy(shown), keyBy(names)])
      .map(([left, right]) => [...shown.map((i) => cell(i, left, right)),
             ...numbers.flatMap(({i, other}) => {
               const [x, y] = [left?.[i] ?? null, right?.[other] ?? null] as (number | null)[];
               return [x, y, x === null && y === null ? null : (y ?? 0) - (x ?? 0)];
             }),
  ]);
  const columns = numbers.flatMap(({column, i, other}) => {
    const largest = Math.max(largestIn(a.rows, i), largestIn(b.rows, other));
    return kSides.map(
      ([key, word]) =>
        ({...column, key: `${column.key}_${key}`, name: `${column.name}, ${word}`, largest}));
  });
  const total = Math.max(a.total_rows ?? 0, b.total_rows ?? 0);
  return {
    key: a.key,
    title: a.title,
    columns: [...shown.map((i) => a.columns[i]), ...columns],
    rows,
    ...(total > 0 ? {total_rows: total} : {})
  };
}
