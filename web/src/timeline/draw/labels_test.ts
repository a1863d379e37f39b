import assert from "node:assert/strict";
import {test} from "node:test";
import {fitted, shortName, visiblePart} from "./labels";
import type {StepsInfo} from "../data/protocol";
import {apart, moment, namedSteps, tickDistance, ticks} from "./ruler";

test("a name is whole where it fits and nothing where it would say nothing", () => {
  assert.equal(fitted("aten::addmm", 110, 10), "aten::addmm");
  assert.equal(fitted("aten::addmm", 80, 10), "addmm");
  assert.equal(fitted("cudaLaunchKernel", 80, 10), "cudaLau…");
  assert.equal(fitted("aten::addmm", 39, 10), "");
});

test("of a path the end stays", () => {
  assert.equal(
    fitted("encoder.layers.0.linear1", 100, 10), "….0.linear1".slice(-10).replace(/^./, "…"));
});

test("of a kernel its own name stays", () => {
  const name =
    "void at::native::(anonymous namespace)::vectorized_kernel<4, at::native::Add<float>>(int, float)";
  assert.equal(shortName(name), "vectorized_kernel");
  assert.equal(fitted(name, 200, 10), "vectorized_kernel");
  assert.equal(shortName("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
  assert.equal(shortName("aten::mm"), "mm");
  assert.equal(shortName("<lambda>"), "<lambda>");
});

test("of a sampled Python function its own name stays", () => {
  assert.equal(fitted("train.py:14(train_step)", 110, 10), "train_step");
  assert.equal(fitted("train.py:14(train_step)", 70, 10), "train_…");
  assert.equal(fitted("nn/linear.py:130(Linear.forward)", 100, 10), "…r.forward");
  assert.equal(fitted("batchlight/_start.py:1(<module>)", 100, 10), "_start.py");
  assert.equal(shortName("<frozen importlib._bootstrap>:1022(_find_and_load)"), "_find_and_load");
});

test("a label stays in the visible part of its box", () => {
  assert.deepEqual(visiblePart(-500, 300, 1000), [0, 300]);
  assert.deepEqual(visiblePart(900, 4000, 1000), [900, 1000]);
});

test("ticks are round numbers, far enough apart", () => {
  assert.equal(tickDistance(1e4, 100), 1e6);
  assert.equal(tickDistance(1.1e4, 100), 2e6);
  assert.equal(tickDistance(0.001, 100), 1);
  assert.deepEqual(ticks(-3, 21, 10), [0, 10, 20]);
});

test("a moment shows the digits that tell ticks apart", () => {
  assert.equal(moment(1_234_567_890, 1e6), "1.235 s");
  assert.equal(moment(1_234_567_890, 1), "1.234567890 s");
  assert.equal(moment(12_500_000, 5e5), "12.5 ms");
  assert.equal(moment(0, 10), "0 s");
});

test("of many steps the round ones are named, and the long ones", () => {
  const from = [0, 10, 20, 30, 40, 740, 750, 760].map((one) => one * 1e6);
  const to = [...from.slice(1), 770e6];
  const steps = {count: 8, number: [4, 5, 6, 7, 8, 9, 10, 11], from, to} as unknown as StepsInfo;
  // 96 px a step in the mean: a longer one has room as well.
  assert.deepEqual(namedSteps(steps, {from: 0, to: 770e6}, 1e6), [0, 1, 2, 3, 4, 5, 6, 7]);
  // 24 px.
  assert.deepEqual(namedSteps(steps, {from: 15e6, to: 755e6}, 4e6), [2, 4, 6]);
  steps.number = [5, 6, 7, 8, 9, 10, 11, 12];
  assert.deepEqual(namedSteps(steps, {from: 15e6, to: 755e6}, 4e6), [1, 3, 4, 5]);
});

test("labels never lie on each other", () => {
  const label = (x: number, width: number): {x: number; width: number} => ({x, width});
  assert.deepEqual(apart([label(0, 40), label(44, 40), label(48, 40), label(100, 40)], 8, 140),
    [true, false, true, true]);
  assert.deepEqual(apart([label(0, 40), label(100, 41)], 8, 140), [true, false]);
  // A long step after a short one has its own name.
  assert.deepEqual(apart([label(0, 40), label(100, 40), label(110, 40), label(400, 40)], 8, 500),
    [true, false, true, true]);
  // Uneven steps, wide numbers: whatever is drawn is apart.
  let seed = 1;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  let x = 0;
  const labels = Array.from({length: 500}, () => label(x += random() * 90, 20 + random() * 60));
  const drawn = labels.filter((_, i) => apart(labels, 8, Infinity)[i]);
  for (let i = 1; i < drawn.length; ++i)
    assert.ok(drawn[i].x >= drawn[i - 1].x + drawn[i - 1].width + 8);
  assert.ok(drawn.length > 100);
});
