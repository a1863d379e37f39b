import assert from "node:assert/strict";
import {test} from "node:test";
import {aggregate, largestPhase, meanStep} from "./selection";
import {sampleSteps} from "./sample_steps";

test("without a selection the numbers are the analysis's own", () => {
  const steps = sampleSteps([50, 10, 12, 14], [1]);
  steps.summary.median_ns = 777;  // whatever the analysis says
  const numbers = aggregate(steps, null);
  assert.equal(numbers.median_ns, 777);
  assert.deepEqual([...numbers.set_apart], [[1, 1]]);
});

test("selecting everything gives the analysis's numbers", () => {
  const steps = sampleSteps([50, 10, 12, 14, 16], [1]);
  const all = aggregate(steps, {first: 0, last: 4});
  assert.equal(all.count, 4);
  assert.equal(all.median_ns, 13);
  assert.equal(all.p95_ns, 15.7);  // numpy.percentile([10, 12, 14, 16], 95)
  assert.equal(all.longest_step, 4);
  assert.deepEqual(all.phase_mean_ns, [3.25, 9.75]);
});

test("the phases of a selection add up to its mean step", () => {
  const numbers = aggregate(sampleSteps([10, 20, 31, 47, 5], []), {first: 1, last: 3});
  const sum = numbers.phase_mean_ns.reduce((a, b) => a + b);
  assert.ok(Math.abs(sum - numbers.mean_ns) < 1e-9);
  assert.equal(numbers.label, "steps 1–3");
});

test("a selection of warm-up only speaks about warm-up", () => {
  const numbers = aggregate(sampleSteps([50, 10, 12], [1]), {first: 0, last: 0});
  assert.equal(numbers.count, 1);
  assert.equal(numbers.median_ns, 50);
  assert.equal(numbers.label, "step 0");
});

test("the largest phase is found by its mean", () => {
  const steps = sampleSteps([10, 20], []);
  assert.equal(largestPhase(aggregate(steps, {first: 0, last: 1})), 1);
  assert.equal(largestPhase({...aggregate(steps, null), phase_mean_ns: []}), -1);
});

test("the mean step of several processes is over the steps that count of each", () => {
  const processes = [sampleSteps([50, 10, 12, 14], [1]), sampleSteps([90, 30], [1])];
  assert.equal(meanStep(processes, 0, 0), 70);  // the warm-up of both
  assert.equal(meanStep(processes, 0, 1), 20);
  assert.equal(meanStep(processes, 2, Infinity), 13);  // the second has ended
  assert.equal(meanStep(processes, 7, 9), 0);
});
