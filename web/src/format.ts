// Numbers for people. A column or an axis picks one scale for all its values, so that they compare
// at a glance; a number that stands alone picks its own.
import type {Column, Unit} from "./data";

export interface Scale {
  factor: number;  // base units in one shown unit
  unit: string;
}

const kTimeScales: Scale[] = [
  {factor: 1e9, unit: "s"},
  {factor: 1e6, unit: "ms"},
  {factor: 1e3, unit: "µs"},
  {factor: 1, unit: "ns"},
];

const kByteScales: Scale[] = [
  {factor: 2 ** 40, unit: "TiB"},
  {factor: 2 ** 30, unit: "GiB"},
  {factor: 2 ** 20, unit: "MiB"},
  {factor: 2 ** 10, unit: "KiB"},
  {factor: 1, unit: "B"},
];

function pick(scales: Scale[], value: number): Scale {
  const magnitude = Math.abs(value);
  return scales.find((scale) => magnitude >= scale.factor) ?? scales[scales.length - 1];
}

// The scale for values up to `largest`.
export function scaleFor(unit: Unit, largest: number): Scale {
  if (unit === "ns") return pick(kTimeScales, largest);
  if (unit === "bytes") return pick(kByteScales, largest);
  return {factor: 1, unit: unit === "%" ? "%" : ""};
}

const kFormatters = new Map<number, Intl.NumberFormat>();

export function fixed(value: number, decimals: number): string {
  let formatter = kFormatters.get(decimals);
  if (!formatter) {
    const digits = {minimumFractionDigits: decimals, maximumFractionDigits: decimals};
    formatter = new Intl.NumberFormat("en-US", digits);
    kFormatters.set(decimals, formatter);
  }
  return formatter.format(value);
}

// Three significant digits, no exponent: 24.3, 1,284, 0.0412.
export function significant(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const rounded = Math.abs(Number(value.toPrecision(3)));
  const digits = Math.floor(Math.log10(rounded)) + 1;
  return fixed(value, Math.min(9, Math.max(0, 3 - digits)));
}

// How many decimals give the largest value of a column that many significant `digits`.
export function decimalsFor(largest: number, digits: number): number {
  if (largest <= 0) return 0;
  return Math.max(0, digits - 1 - Math.floor(Math.log10(largest)));
}

export function time(ns: number): string {
  // 999.97 ms would round to "1,000 ms": the rounded value picks the unit.
  const scale = pick(kTimeScales, ns < 1e9 ? Number(ns.toPrecision(3)) : ns);
  return `${significant(ns / scale.factor)} ${scale.unit}`;
}

// "95.9 – 216 ms": both ends in the unit of the larger.
export function timeRange(low: number, high: number): string {
  const scale = pick(kTimeScales, high);
  return `${significant(low / scale.factor)} – ${significant(high / scale.factor)} ${scale.unit}`;
}

export function bytes(count: number): string {
  const scale = pick(kByteScales, count);
  return `${significant(count / scale.factor)} ${scale.unit}`;
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  return `${fixed((100 * part) / whole, 1)} %`;
}

export function count(value: number): string {
  return fixed(value, 0);
}

// "1 event", "2 events".
export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

const kEndings = new Map([["one", "st"], ["two", "nd"], ["few", "rd"]]);
const kOrdinals = new Intl.PluralRules("en", {type: "ordinal"});

// "longest", "2nd longest", "36th longest"; from 1.
export function nthLongest(place: number): string {
  if (place === 1) return "longest";
  return `${count(place)}${kEndings.get(kOrdinals.select(place)) ?? "th"} longest`;
}

// A number of a column that stands alone; "–": none.
export function numberText(column: Column, value: number|null): string {
  if (value === null) return "–";
  if (column.identifier) return String(value);
  if (column.unit === "ns") return time(value);
  if (column.unit === "bytes") return bytes(value);
  if (column.unit === "%") return `${fixed(value, 1)} %`;
  return column.type === undefined ? count(value) : significant(value);
}

export interface ColumnFormat {
  unit: string;  // for the header, "" when there is none
  text(value: number): string;
}

// How every number of a column is shown.
export function columnFormat(column: Column, values: readonly(number | null)[]): ColumnFormat {
  // A unit of nothing would be the smallest there is.
  const empty = column.largest === undefined && values.every((value) => value === null);
  if (column.identifier || empty) return {unit: "", text: String};
  let largest = column.largest ?? 0;
  for (const value of values)
    if (value !== null) largest = Math.max(largest, Math.abs(value));
  const scale = scaleFor(column.unit ?? "", largest);
  if (scale.factor === 1 && column.type === undefined) return {unit: scale.unit, text: count};
  const scaled = column.unit === "ns" || column.unit === "bytes";
  const decimals = scaled ? decimalsFor(largest / scale.factor, 5) : column.decimals ?? 2;
  const smallest = 10 ** -decimals / 2;
  return {
    unit: scale.unit,
    text(value: number): string {
      const shown = value / scale.factor;
      if (shown !== 0 && Math.abs(shown) < smallest) return `<${fixed(10 ** -decimals, decimals)}`;
      return fixed(shown, decimals);
    },
  };
}

// The same where each number has a unit of its own: of a column of which few values are much larger
// than the others, these could not be read.
export function ownFormat(column: Column): ColumnFormat {
  return {unit: "", text: (value) => numberText(column, value)};
}

// The pieces of a sentence; what stands between `backticks` is code.
export function codePieces(text: string): {text: string, code: boolean}[] {
  const pieces = text.split("`");
  if (pieces.length % 2 === 0) return [{text, code: false}];  // one that nothing closes
  return pieces.map((piece, i) => ({text: piece, code: i % 2 === 1}))
    .filter((piece) => piece.text !== "");
}
