// The binary answer of `view` (docs/design/0016-timeline.md), as views on its bytes.
import type {Items, Samples} from "./items";

export interface ViewAnswer {
  from: number;
  to: number;
  step: number;
  shrunk: boolean;  // not what was asked for
  generation: number;
  rows: Map<string, Items>;  // by rowKey
  counters: Map<string, Samples>;
  bytes: number;
}

const kMagic = 0x56544c42;
const kHeader = 48;
const kRowBytes = 16;

export function rowKey(track: number, row: number): string {
  return `${track}:${row}`;
}

type Columns = Omit<Items, "from"|"step"|"count">;
type SampleColumns = Omit<Samples, "from"|"step"|"count">;

class Columns8 {
  constructor(private readonly buffer: ArrayBuffer, private at: number) {}

  private take(bytes: number): number {
    const begin = (this.at + 7) & ~7;
    if (begin + bytes > this.buffer.byteLength)
      throw new Error(
        `the answer ends after ${this.buffer.byteLength} bytes, in the middle of a column`);
    this.at = begin + bytes;
    return begin;
  }

  u32(count: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(4 * count), count);
  }

  u8(count: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(count), count);
  }

  f64(count: number): Float64Array {
    return new Float64Array(this.buffer, this.take(8 * count), count);
  }
}

export function decodeView(buffer: ArrayBuffer, isCounter: (track: number) => boolean): ViewAnswer {
  const view = new DataView(buffer);
  if (buffer.byteLength < kHeader || view.getUint32(0, true) !== kMagic)
    throw new Error("the answer is not one of a timeline");
  if (view.getUint16(4, true) !== 1)
    throw new Error("the answer is of another version: load the page again");
  const [from, to, step] = [8, 16, 24].map((at) => Number(view.getBigInt64(at, true)));
  const [rowCount, itemCount, sampleCount, generation] =
    [32, 36, 40, 44].map((at) => view.getUint32(at, true));
  const answer: ViewAnswer = {
    from,
    to,
    step,
    shrunk: (view.getUint16(6, true) & 1) !== 0,
    generation,
    rows: new Map(),
    counters: new Map(),
    bytes: buffer.byteLength,
  };
  const columns = new Columns8(buffer, kHeader + kRowBytes * rowCount);
  const items: Columns = {
    start: columns.u32(itemCount),
    width: columns.u32(itemCount),
    ref: columns.u32(itemCount),
    name: columns.u32(itemCount),
    merged: columns.u32(itemCount),
    busy: columns.u8(itemCount),
    flags: columns.u8(itemCount),
  };
  const samples: SampleColumns = {
    start: columns.u32(sampleCount),
    least: columns.f64(sampleCount),
    most: columns.f64(sampleCount),
    last: columns.f64(sampleCount),
  };
  for (let i = 0; i < rowCount; ++i) {
    const at = kHeader + kRowBytes * i;
    const [track, row, first, count] =
      [0, 4, 8, 12].map((offset) => view.getUint32(at + offset, true));
    const key = rowKey(track, row);
    if (isCounter(track))
      answer.counters.set(key, {from, step, count, ...slice(samples, first, count)});
    else answer.rows.set(key, {from, step, count, ...slice(items, first, count)});
  }
  return answer;
}

function slice<C extends Columns|SampleColumns>(columns: C, first: number, count: number): C {
  const part = Object.entries(columns).map(([key, column]) => {
    if (first + count > column.length)
      throw new Error("a row of the answer ends behind its columns");
    return [key, column.subarray(first, first + count)];
  });
  return Object.fromEntries(part) as C;
}
