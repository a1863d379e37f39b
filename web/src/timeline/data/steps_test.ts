import assert from "node:assert/strict";
import {test} from "node:test";
import type {RunAnswer, StepsInfo} from "./protocol";
import {middlePair, searchedStep, stepOf, stepsFilling, startInStep, typicalSteps} from "./steps";

// Steps one after the other, of these lengths.
function runOf(lengths: number[]): RunAnswer {
  const to = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((sum, one) => sum + one, 0));
  const from = to.map((end, i) => end - lengths[i]);
  const number = lengths.map((_, i) => i);
  return {steps: [{count: lengths.length, from, to, number, steady: number}]} as unknown as
    RunAnswer;
}

test("a run opens at steps as long as most, not at its first", () => {
  const run = runOf([900, 10, 50, 10, 10, 10, 10]);
  const whole = {from: 0, to: 1000};
  assert.deepEqual(typicalSteps(run, whole), {first: 3, last: 5});
  assert.deepEqual(typicalSteps(runOf([900, 10, 10]), whole), {first: 1, last: 2});
  assert.equal(typicalSteps(runOf([900, 10]), whole), null);
});

test("a run opens at steps that count, where some do", () => {
  const run = runOf([10, 10, 10, 10, 12, 12, 12, 10, 10]);
  run.steps[0].steady = [4, 5, 6];
  assert.deepEqual(typicalSteps(run, {from: 0, to: 98}), {first: 4, last: 6});
  run.steps[0].steady = [4, 5];
  assert.deepEqual(typicalSteps(run, {from: 0, to: 98}), {first: 1, last: 3});
});

test("a page that holds a part of a run opens in that part", () => {
  const run = runOf([100, 10, 10, 10, 10, 10, 12, 12, 12, 12]);
  assert.deepEqual(typicalSteps(run, {from: 150, to: 186}), {first: 6, last: 8});
  assert.deepEqual(typicalSteps(run, {from: 145, to: 170}), {first: 6, last: 6});
  assert.equal(typicalSteps(run, {from: 141, to: 149}), null);
});

test("a search may be for a step", () => {
  for (const text of ["step 28", " Step 28 ", "STEP #28", "step28"])
    assert.equal(searchedStep(text), 28, text);
  for (const text of ["28", "step", "step 28 x", "optimizer.step 28"])
    assert.equal(searchedStep(text), undefined, text);
});

test("idle time and sampled calls are of the step in which most of them lies", () => {
  const [steps] = runOf([10, 30, 10]).steps;
  const gap = {from: 8, to: 35};
  assert.equal(stepOf(steps, gap, "idle"), 1);
  assert.equal(stepOf(steps, gap, "python"), 1);
  assert.equal(stepOf(steps, gap, "thread"), 0);
  assert.equal(stepOf(steps, {from: 2, to: 50}, "python"), 1);
  assert.equal(stepOf(runOf([10, 10, 10, 10]).steps[0], {from: 8, to: 32}, "python"), 0);
  assert.equal(stepOf(steps, {from: 60, to: 70}, "idle"), -1);
  assert.equal(stepOf(undefined, gap, "idle"), -1);
});

test("where an event begins is told by its step", () => {
  const text = (ns: number): string => `${ns / 1e6} ms`;
  assert.equal(startInStep(98e6, 100e6, text), "2 ms before its start");
  assert.equal(startInStep(100e6, 100e6, text), "0 ms after its start");
});

test("two runs are compared at a step that counts in both", () => {
  const steps = (steady: number[]) => ({number: [0, 1, 2, 3, 4], steady}) as unknown as StepsInfo;
  const pairs = [0, 1, 2, 3, 4].map((number) => ({a: number, b: number}));
  assert.deepEqual(middlePair(pairs, steps([1, 3, 4]), steps([0, 1, 3, 4])), {a: 3, b: 3});
  assert.deepEqual(middlePair(pairs, steps([1]), steps([2])), {a: 2, b: 2}, "none counts in both");
  assert.equal(middlePair([], undefined, undefined), undefined);
});

test("whole steps are known by their ends", () => {
  const {steps: [steps]} = runOf([10, 20, 30]);
  steps.number = [5, 6, 8];
  assert.deepEqual(stepsFilling(steps, {from: 10, to: 30}), {first: 6, last: 6});
  assert.deepEqual(stepsFilling(steps, {from: 0, to: 60}), {first: 5, last: 8});
  for (const span of [{from: 1, to: 30}, {from: 0, to: 31}, {from: 30, to: 30}, {from: 60, to: 70}])
    assert.equal(stepsFilling(steps, span), null);
  steps.number = [5, 5, 8];  // a number that is another step's as well
  assert.equal(stepsFilling(steps, {from: 10, to: 30}), null);
});
