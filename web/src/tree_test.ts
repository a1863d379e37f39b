import assert from "node:assert/strict";
import {test} from "node:test";
import type {Tree} from "./data";
import {binsOf, coarseness, groupOperators, groupWork, placeOf, stepsOf, sumBy, sumTree} from "./tree";

// Net > linear > (mm > gemm, backward: Mm > mm > gemm); three steps, the first a warm-up.
const kTree: Tree = {
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
  self_ns: [
    [90, 10, 20],
    [0, 1, 1],
    [0, 4, 6],
    [0, 30, 50],
    [0, 2, 2],
    [0, 6, 6],
    [0, 100, 100],
  ],
  calls: [1, 1, 2, 2, 1, [0, 1, 3], 1],
};

test("the steps that count are summed unless others are asked for", () => {
  assert.deepEqual(binsOf(kTree, null), [1, 2]);
  assert.deepEqual(binsOf(kTree, {first: 0, last: 1}), [1]);
  assert.deepEqual(binsOf(kTree, {first: 0, last: 0}), [0]);
});

test("a node holds what is inside, forward and backward apart", () => {
  const sums = sumTree(kTree, null);
  assert.equal(sums.self[0], 15);
  assert.equal(sums.cpuForward[0], 15 + 1 + 5);
  assert.equal(sums.cpuBackward[0], 2 + 6);
  assert.equal(sums.gpuForward[1], 40);
  assert.equal(sums.gpuBackward[1], 100);
  assert.equal(sums.gpuSelf[5], 100);
  assert.equal(sums.calls[5], 2);
  assert.equal(sums.gpu, 140);
});

test("a selection has the sums of its steps", () => {
  const sums = sumTree(kTree, {first: 2, last: 2});
  assert.equal(sums.self[3], 50);
  assert.equal(sums.calls[5], 3);
});

test("operators and kernels are put together by name", () => {
  const sums = sumTree(kTree, null);
  const mm = groupOperators(kTree, sums).find((group) => group.name === 2);
  assert.deepEqual([mm?.cpuSelf, mm?.gpuSelf, mm?.calls], [11, 140, 4]);
  const linear = groupOperators(kTree, sums).find((group) => group.name === 1);
  assert.deepEqual([linear?.cpuTotal, linear?.backward], [6, 8]);
  const gemm = groupWork(kTree, sums)[0];
  assert.deepEqual([gemm.gpuSelf, gemm.backward], [140, 100]);
  const places = sumBy(gemm.nodes, (node) => placeOf(kTree, node), (node) => sums.calls[node],
    (node) => sums.self[node]);
  assert.deepEqual(places, [{key: 0, calls: 3, time: 140}]);
});

// Two ranks of five steps; the first knows its steps in two groups, the other apart, of which every
// second counts.
const kRanks: Tree = {
  ...kTree,
  ranks: [
    {
      name: "rank 0",
      step_ns: 80,
      bins: {first_step: [0, 1], steps: [1, 4], counts: [0, 1]},
      self_ns: [[9, 40], 0, 0, [0, 8], 0, 0, 0],
      calls: [1, 0, 0, 2, 0, 0, 0],
    },
    {
      name: "rank 1",
      step_ns: 120,
      bins: {first_step: [0, 0], steps: [3, 2], counts: [0, 1]},
      self_ns: [[30, 60], 0, 0, [0, 10], 0, 0, 0],
      calls: [1, 0, 0, [0, 6], 0, 0, 0],
    },
  ],
  ranks_left_out: 0,
};

test("a rank has its own steps, times and calls", () => {
  const [first, second] = [sumTree(kRanks, null, 0), sumTree(kRanks, null, 1)];
  assert.deepEqual([first.steps, first.step_ns, first.self[0], first.gpu], [4, 80, 10, 2]);
  assert.deepEqual([second.steps, second.step_ns, second.self[0], second.gpu], [2, 120, 30, 5]);
  assert.deepEqual([first.calls[3], second.calls[3]], [2, 3]);
  assert.deepEqual(sumTree(kRanks, null, null), sumTree(kTree, null));
  assert.equal(sumTree(kRanks, {first: 0, last: 0}, 0).self[0], 9);
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
