import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tree } from "./data";
import { binsOf, groupOperators, groupWork, placeOf, sumBy, sumTree } from "./tree";

// Net > linear > (mm > gemm, backward: Mm > mm > gemm); three steps, the first a warm-up.
const kTree: Tree = {
  per_step: true,
  step_ns: 100,
  left_out: 0,
  bins: { first_step: [0, 1, 2], steps: [1, 1, 1], counts: [0, 1, 1] },
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
  assert.deepEqual(binsOf(kTree, { first: 0, last: 1 }), [1]);
  assert.deepEqual(binsOf(kTree, { first: 0, last: 0 }), [0]);
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
  const sums = sumTree(kTree, { first: 2, last: 2 });
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
  const places = sumBy(gemm.nodes, (node) => placeOf(kTree, node), (node) => sums.calls[node], (node) => sums.self[node]);
  assert.deepEqual(places, [{ key: 0, calls: 3, time: 140 }]);
});
