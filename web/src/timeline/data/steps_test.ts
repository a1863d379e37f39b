import assert from "node:assert/strict";
import {test} from "node:test";
import type {RunAnswer} from "./protocol";
import {searchedStep, seenAt, startInStep, typicalSteps} from "./steps";

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

test("a sampled call is of the step in which it was seen", () => {
  const nap = {from: 98e6, to: 350e6};
  assert.equal(seenAt(nap, "python"), 108e6);
  assert.equal(seenAt({from: 98e6, to: 102e6}, "python"), 100e6);
  assert.equal(seenAt(nap, "thread"), 98e6);
  const text = (ns: number): string => `${ns / 1e6} ms`;
  assert.equal(startInStep(98e6, 100e6, text), "2 ms before its start");
  assert.equal(startInStep(100e6, 100e6, text), "0 ms after its start");
});
