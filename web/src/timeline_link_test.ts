import assert from "node:assert/strict";
import {test} from "node:test";
import {parseUrl} from "./timeline/state/url_state";
import type {PageData, RowEvents, TableData} from "./data";
import {placeOfRow, timelineFragment} from "./timeline_link";

test("the timeline understands what the report writes", () => {
  assert.equal(parseUrl(timelineFragment({step: 13})).step, 13);
  const name = "void gemm<a & b, 50%>(c=#d)";
  assert.equal(parseUrl(timelineFragment({find: name})).find, name);
  assert.equal(parseUrl(timelineFragment({find: "x".repeat(900)})).find?.length, 300);
  assert.equal(
    parseUrl(timelineFragment({find: "0", table: "module_calls"})).table, "module_calls");
  assert.equal(parseUrl(timelineFragment({at: 5e6})).at, 5e6);
  const {from, to, range} = parseUrl(timelineFragment({from: 1000, to: 101_000}));
  assert.deepEqual(range, [1000, 101_000]);
  assert.deepEqual([from, to], [0, 151_000]);
});

function tableOf(key: string, cells: Record<string, number|null>, events?: RowEvents): TableData {
  const columns = Object.keys(cells).map((one) => ({key: one}));
  return {key, columns, cells: Object.values(cells).map((cell) => [cell]), events} as unknown as
    TableData;
}

const page = {
  timeline: true,
  strings: ["head", `void gemm…tail`, "copies"],
  training: [{
    pid: 7,
    tracks: [
      {track: "CPU"}, {
        track: "GPU 0",
        phases: [{label: "idle"}, {label: "copies"}],
        events: {
          lists:
            [{}, {longest_ns: [90, 20, 30], longest_start_ns: [1, 2, 3], longest_step: [-1, 4, 5]}]
        }
      }
    ]
  }]
} as unknown as PageData;

function placeOf(table: TableData): unknown {
  return placeOfRow(page, table, 0)?.place ?? null;
}

test("a row leads to its step, its longest, its name or its moment", () => {
  const named = (table: string, name: number|null): RowEvents => ({table, names: [name]});
  assert.deepEqual(placeOf(tableOf("steps", {step: 13, longest: 5})), {step: 13});
  const longest = {longest: 5, longest_start: 100};
  assert.deepEqual(placeOf(tableOf("python_sample_lines", longest)), {from: 100, to: 105});
  assert.equal(placeOf(tableOf("python_sample_lines", {longest: 0, longest_start: 0})), null);
  assert.deepEqual(placeOf(tableOf("modules", {}, named("module_calls", 0))),
    {find: "head", table: "module_calls"});
  assert.deepEqual(
    placeOf(tableOf("kernels", {}, named("kernels", 1))), {find: "void gemm", table: "kernels"});
  assert.deepEqual(placeOf(tableOf("key_averages", {}, named("", 0))), {find: "head"});
  assert.deepEqual(placeOf(tableOf("attribution", {}, {from: [3], to: [9]})), {from: 3, to: 9});
  assert.deepEqual(placeOf(tableOf("memory_timeline", {time: 77})), {at: 77});
});

test("a part of a step leads to the longest event behind it, in steps that count", () => {
  assert.deepEqual(placeOf(tableOf("gpu_parts", {pid: 7, device: 0, part: 2})), {from: 3, to: 33});
  assert.equal(placeOf(tableOf("gpu_parts", {pid: 8, device: 0, part: 2})), null);
});

test("a row that stands for several leads nowhere", () => {
  assert.equal(placeOf(tableOf("operators", {}, {table: "operator_calls", names: [null]})), null);
  assert.equal(placeOf(tableOf("operators", {}, {from: [0], to: [0]})), null);
});
