// The measured roofline of a run: what the tables of kernels and of the step say, as dots under
// roofs. Which kernels cannot be dots, and why, is told too.
import type {PageData, TableData} from "./data";
import {kernelEntries, tableOf, textOf, valueAt} from "./kernel_parts";
import {cellsOf, rowCount} from "./table_sums";

export interface Level {
  key: string;   // of its columns: dram_intensity, dram_peak_gbps
  name: string;  // as the column "roof" has it
}
const kLevels: readonly Level[] =
  [{key: "dram", name: "DRAM"}, {key: "l2", name: "L2"}, {key: "l1", name: "L1"}];

// What one row counted, of a kernel or of a step.
export interface Counted {
  kernel: number|null;  // strings: its name; null: a step
  place: string;        // of a step: "rank 0, GPU 0"; else ""
  number: number|null;  // of the kernel, as in the tables; null: a step
  share: number|null;   // of the time of all kernels, in percent
  type: string;         // "": no operations
  roof: string;         // that is lowest; "": unknown
  tflops: number|null;
  attainable: number|null;  // TFLOP/s
  attained: number|null;    // percent
  atMost: boolean;          // the operations are an upper bound
  intensity: number|null;   // operations a byte of the level
}

// One with operations and bytes.
export interface Dot extends Counted {
  tflops: number;
  intensity: number;
}

export interface Roof {
  name: string;  // "DRAM", "Tensor bf16"
  peak: number;  // TB/s or TFLOP/s
}

export interface Roofline {
  level: Level;
  dots: Dot[];                                  // kernels by falling time, then steps
  bandwidth: Roof|null;                         // null: nobody knows it
  peaks: Roof[];                                // of the types that occur, highest first
  idle: Counted[];                              // kernels without operations
  local: Counted[];                             // with operations, but without bytes of the level
  uncounted: {kernels: number, share: number};  // whose operations were not counted
  clocks: [number, number]|null;                // GHz, lowest and highest
}

// Of each level of memory of which there are dots.
export function rooflines(page: PageData): Roofline[] {
  const kernels = tableOf(page, "kernel_roofline");
  const steps = tableOf(page, "step_roofline");
  return kLevels.map((level) => rooflineOf(page, level, kernels, steps))
    .filter(({dots}) => dots.length > 0);
}

function rooflineOf(page: PageData, level: Level, kernels: TableData|undefined,
  steps: TableData|undefined): Roofline {
  const tables = [kernels, steps].filter((table): table is TableData => table !== undefined);
  const counted =
    tables.flatMap((table) => rowsOf(table).map((row) => countedOf(page, table, level, row)));
  const isDot = (one: Counted): one is Dot => (one.tflops ?? 0) > 0 && (one.intensity ?? 0) > 0;
  const of = counted.filter(({number}) => number !== null);
  const dots = counted.filter(isDot);
  const known = new Map<string, number>();
  for (const table of tables) {
    for (const row of rowsOf(table)) {
      const type = textOf(page, valueAt(table, "type", row));
      const peak = valueAt(table, "peak_tflops", row)?.value ?? 0;
      if (dots.some((dot) => dot.type === type))
        known.set(type, Math.max(known.get(type) ?? 0, peak));
    }
  }
  const bandwidth =
    Math.max(0, ...tables.flatMap((table) => numbers(table, `${level.key}_peak_gbps`)));
  const clocks = tables.flatMap((table) => numbers(table, "clock_ghz"));
  return {
    level,
    dots,
    bandwidth: bandwidth > 0 ? {name: level.name, peak: bandwidth / 1e3} : null,
    peaks: [...known]
             .filter(([, peak]) => peak > 0)
             .map(([name, peak]) => ({name, peak}))
             .sort((a, b) => b.peak - a.peak),
    idle: of.filter(({type}) => type === ""),
    local: of.filter((one) => one.type !== "" && !isDot(one)),
    uncounted: uncountedOf(page, of),
    clocks: clocks.length > 0 ? [Math.min(...clocks), Math.max(...clocks)] : null,
  };
}

function rowsOf(table: TableData): number[] {
  return Array.from({length: rowCount(table)}, (_, row) => row);
}

function numbers(table: TableData, key: string): number[] {
  return cellsOf(table, key).filter((value): value is number => value !== null);
}

function countedOf(page: PageData, table: TableData, level: Level, row: number): Counted {
  const text = (key: string): string => textOf(page, valueAt(table, key, row));
  const number = (key: string): number|null => valueAt(table, key, row)?.value ?? null;
  const kernel = number("kernel");
  const rank = number("rank");
  const where = `${rank === null ? "" : `rank ${rank}, `}GPU ${number("device") ?? 0}`;
  return {
    kernel,
    place: kernel === null ? where : "",
    number: number("measured_kernel"),
    share: number("share"),
    type: text("type"),
    roof: text("roof"),
    tflops: number("tflops"),
    attainable: number("attainable_tflops"),
    attained: number("attained"),
    atMost: text("counted") === "at most",
    intensity: number(`${level.key}_intensity`),
  };
}

// Measured kernels of which the roofline says nothing.
function uncountedOf(
  page: PageData, counted: readonly Counted[]): {kernels: number, share: number} {
  const known = new Set(counted.map(({number}) => number));
  const others =
    kernelEntries(page).filter(({measured}) => measured !== null && !known.has(measured));
  return {
    kernels: others.length,
    share: others.reduce((sum, {share}) => sum + (share ?? 0), 0),
  };
}

export function kernelName(page: PageData, {kernel, place}: Counted): string {
  return kernel === null ? `Measured step, ${place}` : page.labels[kernel] ?? page.strings[kernel];
}
