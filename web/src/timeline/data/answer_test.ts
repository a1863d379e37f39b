import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeView} from "./answer";

// Writes an answer as docs/design/0016-timeline.md lays it out.
function encode(rows: number[][], items: number[][], samples: number[][]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(4096));
  view.setUint32(0, 0x56544c42, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, 1, true);
  [5000n, 9000n, 16n].forEach((value, i) => view.setBigInt64(8 + 8 * i, value, true));
  [rows.length, items.length, samples.length, 7].forEach(
    (value, i) => view.setUint32(32 + 4 * i, value, true));
  let at = 48;
  for (const row of rows)
    for (const value of row) {
      view.setUint32(at, value, true);
      at += 4;
    }
  const column = (list: number[][], place: number, bytes: number): void => {
    at = (at + 7) & ~7;
    for (const one of list) {
      if (bytes === 1) view.setUint8(at, one[place]);
      else if (bytes === 4) view.setUint32(at, one[place], true);
      else view.setFloat64(at, one[place], true);
      at += bytes;
    }
  };
  [4, 4, 4, 4, 4, 1, 1].forEach((bytes, place) => column(items, place, bytes));
  [4, 8, 8, 8].forEach((bytes, place) => column(samples, place, bytes));
  return view.buffer.slice(0, at) as ArrayBuffer;
}

const rows = [[3, 0, 0, 2], [3, 1, 2, 1], [9, 0, 0, 2]];
const items = [[0, 4, 100, 11, 1, 255, 1], [6, 1, 101, 12, 9, 128, 0], [2, 3, 102, 13, 1, 255, 4]];
const samples = [[0, 1.5, 2.5, 2], [8, 3, 3, 3]];
const isCounter = (track: number): boolean => track === 9;

test("an answer of view is decoded, row by row", () => {
  const answer = decodeView(encode(rows, items, samples), isCounter);
  assert.deepEqual([answer.from, answer.to, answer.step, answer.shrunk, answer.generation],
    [5000, 9000, 16, true, 7]);
  const first = answer.rows.get("3:0")!;
  assert.deepEqual(
    [first.count, [...first.start], [...first.ref], [...first.merged], [...first.busy]],
    [2, [0, 6], [100, 101], [1, 9], [255, 128]]);
  assert.deepEqual([...answer.rows.get("3:1")!.flags], [4]);
  const counter = answer.counters.get("9:0")!;
  assert.deepEqual([[...counter.start], [...counter.least], [...counter.most], [...counter.last]],
    [[0, 8], [1.5, 3], [2.5, 3], [2, 3]]);
});

test("what is cut short or of somebody else is refused", () => {
  const whole = encode(rows, items, samples);
  const message = (buffer: ArrayBuffer): string => {
    try {
      decodeView(buffer, isCounter);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const size of [0, 20, 47])
    assert.match(message(whole.slice(0, size)), /not one of a timeline/);
  for (let size = 48; size < whole.byteLength; size += 7)
    assert.ok(message(whole.slice(0, size)) !== "", `${size}`);
  assert.match(message(encode([[3, 0, 2, 2]], items, samples)), /behind its columns/);
  const other = whole.slice(0);
  new DataView(other).setUint16(4, 2, true);
  assert.match(message(other), /another version/);
});
