import assert from "node:assert/strict";
import {test} from "node:test";
import type {CollectiveBins, Column, RankBins, TableData} from "./data";
import {collectivesOver, knowsWaits, ranksOver, straggler} from "./rank_sums";

function table(names: string[], rows: (number|null)[][]): TableData {
  const columns = names.map(
    (name): Column => ({name, type: "real", unit: "", decimals: 1, help: "In the whole run"}));
  const cells = names.map((_, column) => rows.map((row) => row[column]));
  return {name: "t", title: "T", csv: "t.csv", total_rows: rows.length, columns, cells};
}
function cell(found: TableData, row: number, name: string): number|null {
  return found.cells[found.columns.findIndex((column) => column.name === name)][row];
}

const kStarts = [0, 1, 3];
const kRank: RankBins = {
  steps: [1, 2, 1],
  counts: [0, 1, 1],
  windows: [1, 1, 0],
  step_ns: [900, 200, 130],
  compute_ns: [500, 40, 0],
  communication_ns: [100, 20, 0],
  hidden_ns: [0, 5, 0],
  copies_ns: [0, 0, 0],
  idle_ns: [300, 30, 0],
  waited_ns: [50, 6, 3],
};

test("ranks are means per step, of the GPU over the steps with a window", () => {
  const ranks = table(["Rank", "Step", "Compute", "Idle", "Waited"], [[0, 1, 2, 3, 4]]);
  const warm = ranksOver(ranks, [kRank], kStarts, {first: 0, last: 0});
  assert.deepEqual(warm.cells.map((cells) => cells[0]), [0, 900, 500, 300, 50]);
  const rest = ranksOver(ranks, [kRank], kStarts, {first: 0, last: 3});  // warm-up does not count
  assert.deepEqual(rest.cells.map((cells) => cells[0]), [0, 110, 40, 30, 3]);
});

const kCollective: CollectiveBins = {
  size_bytes: 4000,
  bus_factor: 1.5,
  knows_waits: true,
  calls: [2, 8, 4],
  timed: [2, 8, 4],
  matched: [1, 4, 2],
  kernel_ns: [900, 1600, 700],
  waited_ns: [500, 0, 100],
  shortest_ns: [200, 800, 300],
};

test("a collective's bandwidth is that of the selected calls", () => {
  const names = [
    "Operation", "Calls", "Calls per Step", "Kernel Time", "Average", "Waited", "Shortest",
    "Algorithm GB/s", "Bus GB/s"
  ];
  const whole = table(names, [[5, 14, 1, 0, 0, 0, 0, 0, 0], [6, 1, 1, 0, 0, 0, 0, 0, 0]]);
  const rare = {...kCollective, calls: [1, 0, 0]};
  const all = {steps: [2, 4, 2], counts: [0, 1, 1]};
  const found = collectivesOver(whole, [kCollective, rare], kStarts, all, {first: 2, last: 2});
  assert.equal(found.total_rows, 1);  // the other one was not called in these steps
  assert.deepEqual(names.map((name) => cell(found, 0, name)), [5, 8, 2, 1600, 200, 0, 200, 20, 30]);
  assert.equal(found.columns[1].help, "In these steps");
  assert.equal(whole.columns[1].help, "In the whole run");
});

test("the straggler is the rank that waits least while the others do", () => {
  assert.match(straggler([0, 1, 2], [300, 0, 320], [1000, 1000, 1000]),
    /^The others wait 310 ns per step for rank 1, 31\.0 % of a step\.$/);
  assert.match(straggler([0, 1], [300, 200], [1000, 1000]), /^No straggler/);
  assert.match(straggler([0, 1], [15, 0], [1000, 1000]), /^No straggler/);  // 1.5 % of a step
  assert.equal(straggler([0], [0], [1]), "");
});

test("who waits is known where several ranks made a call", () => {
  assert.equal(
    knowsWaits([{...kCollective, calls: [0, 1, 0]}], kStarts, {first: 0, last: 0}), false);
  assert.equal(knowsWaits([kCollective], kStarts, {first: 0, last: 0}), true);
});
