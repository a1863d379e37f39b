import assert from "node:assert/strict";
import {test} from "node:test";
import type {TableData} from "./data";
import {matchingRows, sortedRows} from "./table";

const kStrings = ["aten::mm", "Aten::ADD", "op10", "op9"];
const table: TableData = {
  key: "operators",
  title: "Operators",
  csv: "operators.csv",
  total_rows: 4,
  columns: [
    {key: "name", name: "Name", type: "text"},
    {key: "time", name: "Time", unit: "ns"},
  ],
  cells: [
    [0, 1, 2, 3],
    [20, null, 30, 20],
  ],
};

test("numbers sort by value, rows without one come last either way", () => {
  assert.deepEqual(sortedRows(table, kStrings, 1, true), [2, 0, 3, 1]);
  assert.deepEqual(sortedRows(table, kStrings, 1, false), [0, 3, 2, 1]);
});

test("text sorts as people count: op9 before op10", () => {
  assert.deepEqual(sortedRows(table, kStrings, 0, false).slice(2), [3, 2]);
});

test("a filter wants every word, whatever the case", () => {
  assert.deepEqual(matchingRows(table, kStrings, [0, 1, 2, 3], "ATEN"), [0, 1]);
  assert.deepEqual(matchingRows(table, kStrings, [0, 1, 2, 3], "aten add"), [1]);
  assert.deepEqual(matchingRows(table, kStrings, [0, 1, 2, 3], " "), [0, 1, 2, 3]);
});
