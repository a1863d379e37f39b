import assert from "node:assert/strict";
import {test} from "node:test";
import {startOf} from "./items";
import {itemsIn} from "./view_query";
import type {RowEvents} from "./view_query";

function rowOf(events: [number, number][]): RowEvents {
  return {
    start: Float64Array.from(events, ([start]) => start),
    end: Float64Array.from(events, ([, end]) => end),
    ref: Uint32Array.from(events, (_, i) => 100 + i),
    name: Uint32Array.from(events, (_, i) => i),
    open: new Set(),
  };
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test("long events stand alone, short neighbours are put together", () => {
  const items = itemsIn(rowOf([[0, 10], [10, 11], [12, 13], [19, 20], [20, 40]]), 0, 48, 8);
  assert.deepEqual([...items.merged], [1, 2, 1, 1]);
  assert.deepEqual([...items.ref], [100, 101, 103, 104]);
  assert.deepEqual([...items.start], [0, 1, 2, 2]);
  assert.deepEqual([...items.width], [1, 0, 0, 3]);
  assert.equal(items.busy[1], Math.floor((2 / 3) * 255));
});

test("at every zoom each event that touches the range is in exactly one item", () => {
  const next = random(7);
  const events: [number, number][] = [];
  for (let at = 0; at < 100_000;) {
    const start = at + Math.floor(next() * 20);
    at = start + Math.floor(next() ** 6 * 3000);
    events.push([start, at]);
  }
  const row = rowOf(events);
  for (let step = 1; step < 200_000; step *= 4) {
    const from = Math.floor(30_000 / step) * step;
    const to = Math.ceil(70_000 / step) * step;
    const items = itemsIn(row, from, to, step);
    const touching = events.filter(([start, end]) => start < to && (end > from || start >= from));
    const sum = items.merged.reduce((all, count) => all + count, 0);
    assert.equal(sum, touching.length);
    for (let i = 1; i < items.count; ++i) assert.ok(items.start[i] >= items.start[i - 1]);
    let place = touching.length > 0 ? events.indexOf(touching[0]) : 0;
    for (let i = 0; i < items.count; ++i) {
      const run = events.slice(place, place + items.merged[i]);
      place += items.merged[i];
      const longest = Math.max(...run.map(([start, end]) => end - start));
      const [start, end] = events[items.ref[i] - 100];
      assert.equal(end - start, longest);
      assert.ok(run[0][0] < from || Math.abs(startOf(items, i) - run[0][0]) < step);
    }
  }
});
