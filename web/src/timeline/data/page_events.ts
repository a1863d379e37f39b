// The events of a static page (docs/design/0016-timeline.md, "The static page").
import {rowKey} from "./answer";
import type {Ref, SampledCall, ThreadTimes} from "./protocol";
import type {RowEvents} from "./view_query";

// Calls that samples found, column-wise.
export interface PageSampled {
  ref: Uint32Array;
  columns: Record<keyof SampledCall|Exclude<keyof ThreadTimes, "knows_ready">, Float64Array>;
  knowsReady: boolean;
}

export interface PageEvents {
  rows: Map<string, RowEvents>;
  sampled?: PageSampled;
  waitedFor?: Map<Ref, number[]>;   // tracks, of idle times of a GPU
  longNames?: Map<number, string>;  // of which the page shows the beginning
  counters: Map < string, {
    time: Float64Array;
    value: Float64Array
  }
  > ;
}

const kMagic = 0x45544c42;
const kHeader = 16;
const kRowBytes = 16;
const kUsNs = 1000;

// Little-endian base 128. A number may take more than 32 bits, so sums and not shifts.
class Numbers {
  constructor(private readonly bytes: Uint8Array, private at: number, readonly end: number) {}

  next(): number {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      if (this.at >= this.end)
        throw new Error("the events of this page end in the middle of a number");
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  nextSigned(): number {
    const value = this.next();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

export function decodePageEvents(bytes: Uint8Array): PageEvents {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < kHeader || view.getUint32(0, true) !== kMagic)
    throw new Error("the events of this page cannot be read: the file is damaged");
  const [rowCount, count] = [view.getUint32(8, true), view.getUint32(12, true)];
  let at = kHeader + kRowBytes * rowCount;
  const column = (): Numbers => {
    const numbers = new Numbers(bytes, at + 4, at + 4 + view.getUint32(at, true));
    at = numbers.end;
    return numbers;
  };
  const [starts, lengths, refs, names] = [column(), column(), column(), column()];
  const all = {
    start: new Float64Array(count),
    end: new Float64Array(count),
    ref: new Uint32Array(count),
    name: new Uint32Array(count),
  };
  const rows = new Map<string, RowEvents>();
  const firsts: [number, RowEvents&{open: Set<number>}][] = [];
  for (let i = 0; i < rowCount; ++i) {
    const [track, row, first, length] =
      [0, 4, 8, 12].map((offset) => view.getUint32(kHeader + kRowBytes * i + offset, true));
    fill(all, first, first + length, starts, lengths, refs, names);
    const part = {
      start: all.start.subarray(first, first + length),
      end: all.end.subarray(first, first + length),
      ref: all.ref.subarray(first, first + length),
      name: all.name.subarray(first, first + length),
      open: new Set<number>(),
    };
    rows.set(rowKey(track, row), part);
    firsts.push([first, part]);
  }
  at = addOpen(view, at, firsts);
  const found: PageEvents["counters"] = new Map();
  at = addCounters(view, at, found);
  const u32 = (): number => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  const sampled = sampledCalls(u32(), u32() !== 0, column);
  const waitedFor = waits(u32(), column);
  return {rows, counters: found, sampled, waitedFor, longNames: longTexts(view, at)};
}

function refsOf(count: number, refs: Numbers): Uint32Array {
  const ref = new Uint32Array(count);
  for (let i = 0, before = -1; i < count; ++i) ref[i] = before = before + 1 + refs.nextSigned();
  return ref;
}

function sampledCalls(count: number, knowsReady: boolean, column: () => Numbers): PageSampled {
  const ref = refsOf(count, column());
  const values = (unit = 1): Float64Array => {
    const numbers = column();
    return Float64Array.from({length: count}, () => unit * numbers.next());
  };
  const [looks, apart, line] = [values(), values(kUsNs), values()];
  const [line_ns, steps] = [values(kUsNs), values()];
  const [ran, ready, gil, waited] = [0, 1, 2, 3].map(() => values(kUsNs));
  return {ref, columns: {looks, apart, line, line_ns, steps, ran, ready, gil, waited}, knowsReady};
}

function waits(count: number, column: () => Numbers): Map<Ref, number[]> {
  const ref = refsOf(count, column());
  const [counts, tracks] = [column(), column()];
  const trackList = (): number[] => Array.from({length: counts.next()}, () => tracks.next());
  return new Map([...ref].map((one) => [one, trackList()]));
}

function longTexts(view: DataView, begin: number): Map<number, string> {
  const found = new Map<number, string>();
  const decoder = new TextDecoder();
  let at = begin + 4;
  for (let left = view.getUint32(begin, true); left > 0; --left) {
    const [name, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    found.set(name, decoder.decode(new Uint8Array(view.buffer, view.byteOffset + at + 8, length)));
    at += 8 + length;
  }
  return found;
}

type Columns = Omit<RowEvents, "open">;

function fill(all: Columns, first: number, end: number, starts: Numbers, lengths: Numbers,
  refs: Numbers, names: Numbers): void {
  let [time, ref, name] = [0, -1, 0];
  for (let i = first; i < end; ++i) {
    all.start[i] = time + starts.next();
    all.end[i] = time = all.start[i] + lengths.next();
    all.ref[i] = ref = ref + 1 + refs.nextSigned();
    all.name[i] = name = name + names.nextSigned();
  }
}

function addOpen(
  view: DataView, at: number, rows: [number, RowEvents&{open: Set<number>}][]): number {
  const count = view.getUint32(at, true);
  for (let i = 0; i < count; ++i) {
    const place = view.getUint32(at + 4 + 4 * i, true);
    const found = rows.find(([first, {start}]) => first <= place && place < first + start.length);
    found?.[1].open.add(place - found[0]);
  }
  return at + 4 + 4 * count;
}

function addCounters(view: DataView, begin: number, found: PageEvents["counters"]): number {
  let at = begin + 4;
  for (let left = view.getUint32(begin, true); left > 0; --left) {
    const [track, row, count] = [0, 4, 8].map((offset) => view.getUint32(at + offset, true));
    at += 12;
    const time = new Float64Array(count);
    const value = new Float64Array(count);
    for (let i = 0; i < count; ++i, at += 16) {
      time[i] = view.getFloat64(at, true);
      value[i] = view.getFloat64(at + 8, true);
    }
    found.set(rowKey(track, row), {time, value});
  }
  return at;
}
