import assert from "node:assert/strict";
import {test} from "node:test";
import type {RangeTable} from "../data/protocol";
import {csvOf, joined, tableOf, textOf} from "./range_data";

const table: RangeTable = {
  key: "kernels",
  title: "Kernels",
  columns: [{key: "name", name: "Kernel", type: "text"}, {key: "time", name: "Time", unit: "ns"}],
  rows: [["gemm<1, \"x\">", 2_000_000], ["copy", null]],
};

test("a table is turned column-wise with texts by number", () => {
  const {table: data, strings} = tableOf(table);
  assert.deepEqual(data.cells, [[0, 1], [2_000_000, null]]);
  assert.deepEqual(strings, ["gemm<1, \"x\">", "copy"]);
});

test("CSV has bare numbers and quotes what needs it", () => {
  assert.equal(csvOf(table), "Kernel,Time (ns)\n\"gemm<1, \"\"x\"\">\",2000000\ncopy,\n");
});

test("text is aligned and in one unit", () => {
  assert.equal(
    textOf(table), "Kernel        Time (ms)\ngemm<1, \"x\">     2.0000\ncopy                  –\n");
});

test("two runs stand side by side with their difference", () => {
  const other = {...table, rows: [["copy", 5], ["new", 7]]};
  const {columns, rows} = joined(table, other);
  assert.deepEqual(columns.map(({key}) => key), ["name", "time_a", "time_b", "time_change"]);
  assert.deepEqual(
    columns.map(({largest}) => largest), [undefined, 2_000_000, 2_000_000, 2_000_000]);
  assert.deepEqual(rows,
    [["gemm<1, \"x\">", 2_000_000, null, -2_000_000], ["copy", null, 5, 5], ["new", null, 7, 7]]);
});
