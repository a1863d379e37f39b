import assert from "node:assert/strict";
import {test} from "node:test";
import type {Tree, TreeColumn} from "./data";
import {binsOf, coarseness, columnsWith, groupByName, numberOf, placeOf, stepsOf, sumBy, sumTree, timesOfNode} from "./tree";

const kKeys =
  ["phase", "range", "module", "operator", "kernel", "copy", "memset", "graph", "unattributed"];
const kParts = {
  kinds: kKeys.map(
    (key) => ({key, name: key, work: ["kernel", "copy", "memset", "graph"].includes(key)})),
  times: [
    {key: "cpu", work: false},
    {key: "gpu", work: true},
    {key: "backward", backward: true},
    {key: "cpu_forward", work: false, backward: false},
    {key: "cpu_backward", work: false, backward: true},
    {key: "gpu_forward", work: true, backward: false},
    {key: "gpu_backward", work: true, backward: true},
    {key: "beside", work: false, beside: true},
  ],
  columns: [],
  sums: [{key: "calls", of: "calls"}, {key: "cpu_self", of: "self", work: false}],
  operators: {
    work: false,
    columns: [],
    sums: [
      {key: "calls", of: "calls"},
      {key: "cpu_self", of: "self"},
      {key: "beside_self", of: "beside"},
      {key: "gpu_self", of: "launched"},
      {key: "cpu_total", of: "cpu_forward", backward: false, outermost: true},
      {key: "cpu_total", of: "cpu_backward", backward: true, outermost: true},
      {key: "its_backward", of: "cpu_backward", backward: false, outermost: true},
    ],
    order: ["cpu_self", "gpu_self"],
  },
  kernels: {
    work: true,
    columns: [],
    sums: [
      {key: "calls", of: "calls"},
      {key: "gpu_self", of: "self"},
      {key: "in_backward", of: "self", backward: true},
    ],
    order: ["gpu_self"],
  },
};

// Net > linear > (mm > gemm, backward: Mm > mm > gemm); three steps, the first a warm-up.
const kTree: Tree = {
  ...kParts,
  per_step: true,
  step_ns: 100,
  left_out: 0,
  bins: {first_step: [0, 1, 2], steps: [1, 1, 1], counts: [0, 1, 1]},
  kind: [2, 3, 3, 4, 3, 3, 4],
  name: [0, 1, 2, 3, 4, 2, 3],
  detail: [null, null, null, null, null, null, null],
  more: [0, 0, 0, 0, 0, 0, 0],
  parent: [-1, 0, 1, 2, 1, 4, 5],
  backward: [0, 0, 0, 0, 1, 1, 1],
  longest_start_ns: [0, 0, 0, 0, 0, 0, 0],
  longest_ns: [0, 0, 0, 0, 0, 0, 0],
  self_ns: [
    [90, 10, 20],
    [0, 1, 1],
    [0, 4, 6],
    [0, 30, 50],
    [0, 2, 2],
    [0, 6, 6],
    [0, 100, 100],
  ],
  beside_ns: [0, 0, [7, 3, 5], 0, 0, 0, 0],
  calls: [1, 1, 2, 2, 1, [0, 1, 3], 1],
};

test("the steps that count are summed unless others are asked for", () => {
  assert.deepEqual(binsOf(kTree, null), [1, 2]);
  assert.deepEqual(binsOf(kTree, {first: 0, last: 1}), [1]);
  assert.deepEqual(binsOf(kTree, {first: 0, last: 0}), [0]);
});

test("a node holds what is inside, forward and backward apart", () => {
  const sums = sumTree(kTree, null);
  assert.equal(sums.own.self[0], 15);
  assert.equal(sums.inside.cpu_forward[0], 15 + 1 + 5);
  assert.equal(sums.inside.cpu_backward[0], 2 + 6);
  assert.equal(sums.inside.gpu_forward[1], 40);
  assert.equal(sums.inside.gpu_backward[1], 100);
  assert.equal(sums.own.launched[5], 100);
  assert.equal(sums.own.calls[5], 2);
  assert.equal(sums.whole.gpu, 140);
});

test("what other threads do is in no time of the step", () => {
  const sums = sumTree(kTree, null);
  assert.equal(sums.inside.beside[0], 4);
  assert.equal(sums.inside.cpu[2], 5);
  const mm = groupByName(kTree, sums, kTree.operators).find((group) => group.name === 2);
  assert.deepEqual([mm?.times.cpu_self, mm?.times.beside_self], [11, 4]);
});

test("a selection has the sums of its steps", () => {
  const sums = sumTree(kTree, {first: 2, last: 2});
  assert.equal(sums.own.self[3], 50);
  assert.equal(sums.own.calls[5], 3);
});

test("columns are made of what a node has inside", () => {
  const sums = sumTree(kTree, null);
  const share: TreeColumn = {
    key: "share",
    name: "",
    type: "real",
    sum: {kind: "ratio", of: "cpu", per: "step", factor: 100}
  };
  const ofGpu: TreeColumn = {...share, sum: {...share.sum!, of: "gpu", per: "all_gpu"}};
  assert.equal(numberOf(share, sums, timesOfNode(kTree, sums, 0)), 29);
  assert.equal(numberOf(ofGpu, sums, timesOfNode(kTree, sums, 4)), (100 * 100) / 140);
  const kinds = (some: TreeColumn[]) => columnsWith(some, sums).length;
  assert.equal(kinds([share, {...share, only_with: ["gpu", "backward"]}]), 2);
  assert.equal(columnsWith([{...share, only_with: ["gpu"]}], {...sums, whole: {gpu: 0}}).length, 0);
});

test("operators and kernels are put together by name", () => {
  const sums = sumTree(kTree, null);
  const mm = groupByName(kTree, sums, kTree.operators).find((group) => group.name === 2);
  assert.deepEqual([mm?.times.cpu_self, mm?.times.gpu_self, mm?.times.calls], [11, 140, 4]);
  const linear = groupByName(kTree, sums, kTree.operators).find((group) => group.name === 1);
  assert.deepEqual([linear?.times.cpu_total, linear?.times.its_backward], [6, 8]);
  const gemm = groupByName(kTree, sums, kTree.kernels)[0];
  assert.deepEqual([gemm.times.gpu_self, gemm.times.in_backward], [140, 100]);
  const places = sumBy(gemm.nodes, (node) => placeOf(kTree, node), (node) => sums.own.calls[node],
    (node) => sums.own.self[node]);
  assert.deepEqual(places, [{key: 0, calls: 3, time: 140}]);
});

// Two ranks of five steps; the first knows its steps in two groups, the other apart, of which every
// second counts.
const kRanks: Tree = {
  ...kTree,
  ranks: [
    {
      name: "rank 0",
      rank: 0,
      step_ns: 80,
      bins: {first_step: [0, 1], steps: [1, 4], counts: [0, 1]},
      self_ns: [[9, 40], 0, 0, [0, 8], 0, 0, 0],
      beside_ns: [0, 0, 0, 0, 0, 0, 0],
      calls: [1, 0, 0, 2, 0, 0, 0],
    },
    {
      name: "rank 1",
      rank: 1,
      step_ns: 120,
      bins: {first_step: [0, 0], steps: [3, 2], counts: [0, 1]},
      self_ns: [[30, 60], 0, 0, [0, 10], 0, 0, 0],
      beside_ns: [0, 0, 0, 0, 0, 0, 0],
      calls: [1, 0, 0, [0, 6], 0, 0, 0],
    },
  ],
  ranks_left_out: 0,
};

test("a rank has its own steps, times and calls", () => {
  const [first, second] = [sumTree(kRanks, null, 0), sumTree(kRanks, null, 1)];
  assert.deepEqual(
    [first.steps, first.step_ns, first.own.self[0], first.whole.gpu], [4, 80, 10, 2]);
  assert.deepEqual(
    [second.steps, second.step_ns, second.own.self[0], second.whole.gpu], [2, 120, 30, 5]);
  assert.deepEqual([first.own.calls[3], second.own.calls[3]], [2, 3]);
  assert.deepEqual(sumTree(kRanks, null, null), sumTree(kTree, null));
  assert.equal(sumTree(kRanks, {first: 0, last: 0}, 0).own.self[0], 9);
});

test("a selection that cuts a group of steps says how long it is", () => {
  const [first, second] = kRanks.ranks ?? [];
  assert.equal(coarseness(first, null, 5), 0);
  assert.equal(coarseness(first, {first: 0, last: 0}, 5), 0);
  assert.equal(coarseness(first, {first: 1, last: 4}, 5), 0);
  assert.equal(coarseness(first, {first: 2, last: 2}, 5), 4);
  assert.equal(coarseness(second, {first: 1, last: 1}, 5), 5);
  assert.equal(coarseness(kTree, {first: 1, last: 1}, 3), 0);
  assert.deepEqual(stepsOf(first, {first: 2, last: 2}), {first: 1, last: Infinity});
  assert.deepEqual(
    stepsOf(kTree, {first: 0, last: 1}), {first: 1, last: 1});  // the warm-up does not count
});
