import assert from "node:assert/strict";
import {test} from "node:test";
import {pageRange} from "./page_range";
import type {RunAnswer} from "./protocol";

const kNames = ["idle: operators", "idle: waiting"];

function rowOf(events: [start: number, end: number, name: number][]) {
  return {
    start: Float64Array.from(events, ([start]) => start),
    end: Float64Array.from(events, ([, end]) => end),
    ref: Uint32Array.from(events, (_, i) => i),
    name: Uint32Array.from(events, ([, , name]) => name),
    open: new Set<number>(),
  };
}

// A gap of two causes, of which the row below tells, and one of a single cause.
const run = {
  source: "run.batchlight",
  steps: [],
  tracks: [{id: 0, kind: "idle", rows: 2}],
} as unknown as RunAnswer;
const events = {
  rows: new Map([
    ["0:0", rowOf([[0, 100, 0], [200, 230, 0]])],
    ["0:1", rowOf([[0, 60, 0], [60, 100, 1]])],
  ]),
  counters: new Map(),
};

function idleIn(from: number, to: number) {
  const {tables} = pageRange(run, events, (id) => kNames[id] ?? "", {from, to});
  return tables.find(({key}) => key === "idle")?.rows;
}

test("idle time of a range is told once, by its causes", () => {
  assert.deepEqual(idleIn(0, 300), [[kNames[0], 2, 90, 60], [kNames[1], 1, 40, 40]]);
});

test("a gap is cut at the edges with its causes", () => {
  assert.deepEqual(idleIn(70, 210), [[kNames[1], 1, 30, 30], [kNames[0], 1, 10, 10]]);
});
