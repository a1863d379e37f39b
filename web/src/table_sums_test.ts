import assert from "node:assert/strict";
import {test} from "node:test";
import type {TableData} from "./data";
import {cellsOf, isKnown, tableOver} from "./table_sums";

const kStarts = [0, 1, 3];
const kTable: TableData = {
  key: "collectives",
  title: "",
  csv: "",
  total_rows: 3,
  columns: [
    {key: "operation", name: "Operation", type: "text"},
    {
      key: "calls",
      name: "Calls",
      help: "In the whole run",
      help_of_steps: "In these steps",
      sum: {kind: "sum", of: "calls"}
    },
    {key: "per_step", name: "", type: "real", sum: {kind: "ratio", of: "calls", per: "steps"}},
    {key: "waited", name: "", help: "", sum: {kind: "sum", of: "waited_ns"}},
  ],
  cells: [[5, 6, 7], [14, 1, 3], [1, 1, 1], [600, null, null]],
  parts: {
    rows: [
      {of: {calls: [2, 8, 4], waited_ns: [500, 0, 100]}},
      {of: {calls: [1, 0, 0]}},
    ],
    all: {counts: [0, 1, 1], of: {steps: [2, 4, 2]}},
    only_with: "calls",
  },
};

test("without a selection a table is as the analysis has it", () => {
  assert.equal(tableOver(kTable, kStarts, null), kTable);
  const {parts, ...whole} = kTable;
  assert.equal(tableOver(whole, kStarts, {first: 0, last: 0}), whole);
  assert.ok(parts);
});

test("columns with a rule are made again, rows of which nothing is known are left out", () => {
  const found = tableOver(kTable, kStarts, {first: 2, last: 2});
  assert.deepEqual(found.cells, [[5], [8], [2], [0]]);
  assert.equal(found.total_rows, 1);
  assert.equal(found.columns[1].help, "In these steps");
  assert.equal(kTable.columns[1].help, "In the whole run");
  const warm = tableOver(kTable, kStarts, {first: 0, last: 0});
  assert.deepEqual(warm.cells, [[5, 6], [2, 1], [1, 0.5], [500, null]]);
});

test("a row with bins of its own counts by these", () => {
  const ranks: TableData = {
    ...kTable,
    columns: [{key: "step", name: "", sum: {kind: "ratio", of: "ns", per: "steps"}}],
    cells: [[0]],
    parts: {rows: [{counts: [0, 1, 1], of: {ns: [900, 200, 130], steps: [1, 2, 1]}}]},
  };
  const mean = (first: number, last: number) =>
    cellsOf(tableOver(ranks, kStarts, {first, last}), "step");
  assert.deepEqual(mean(0, 0), [900]);
  assert.deepEqual(mean(0, 3), [110]);  // the warm-up does not count
});

test("columns are found by key", () => {
  assert.deepEqual(cellsOf(kTable, "calls"), [14, 1, 3]);
  assert.deepEqual(cellsOf(kTable, "Calls"), []);
});

test("what nobody measured in the steps is not known", () => {
  const known = (first: number) =>
    isKnown(kTable, "waited_ns", "calls", kStarts, {first, last: first});
  assert.equal(known(0), true);
  const one = {...kTable, parts: {rows: [{of: {calls: [0, 1, 0], waited_ns: [0, 0, 0]}}]}};
  assert.equal(isKnown(one, "waited_ns", "calls", kStarts, {first: 0, last: 0}), false);
});
