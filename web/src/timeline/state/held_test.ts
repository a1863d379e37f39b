import assert from "node:assert/strict";
import {test} from "node:test";
import {heldOfRange, heldSteps, isPart, lackOfSteps, lackOfTime} from "./held";
import type {RunAnswer} from "../data/protocol";

// Ten steps of 100 ms, numbered from 5, of which a file may hold a part.
function runOf(from?: number, to?: number): RunAnswer {
  const places = Array.from({length: 10}, (_, i) => i);
  const at = (i: number): number => i * 1e8;
  return {
    source: "train.batchlight",
    from: 0,
    to: 1e9,
    steps: [{
      count: 10,
      number: places.map((i) => i + 5),
      from: places.map(at),
      to: places.map((i) => at(i + 1))
    }],
    static: from === undefined ? undefined : {left_out: 7, why: "", from, to},
  } as unknown as RunAnswer;
}

const kPart = runOf(2e8, 5e8);  // steps 7 to 9

test("a whole run lacks what it never had", () => {
  const run = runOf();
  assert.equal(isPart(run), false);
  assert.deepEqual(heldSteps(run), {first: 0, behind: 10});
  assert.equal(lackOfSteps(run, 5, 14), "");
  assert.equal(
    lackOfSteps(run, 15, 15), "This recording has no step 15: its steps go from 5 to 14.");
  assert.equal(
    lackOfSteps(run, 4, 6), "This recording has no steps 4 to 6: its steps go from 5 to 14.");
  assert.equal(lackOfSteps(run, 15, 15, 0, "A"), "A has no step 15: its steps go from 5 to 14.");
  assert.equal(lackOfTime(run, {from: 2e9, to: 3e9}), "");
  assert.equal(heldOfRange(run, {from: 0, to: 1e9, steps: {first: 5, last: 14}}), "");
});

test("a file with a part of a run says which steps it lacks, and which it holds", () => {
  assert.equal(isPart(kPart), true);
  assert.deepEqual(heldSteps(kPart), {first: 2, behind: 5});
  assert.equal(lackOfSteps(kPart, 7, 7), "");
  assert.equal(lackOfSteps(kPart, 5, 14), "");
  const holds = "it holds steps 7 to 9. batchlight view train.batchlight shows all.";
  assert.equal(lackOfSteps(kPart, 12, 12), `This file does not hold step 12: ${holds}`);
  assert.equal(lackOfSteps(kPart, 10, 12), `This file does not hold steps 10 to 12: ${holds}`);
  assert.match(lackOfSteps(kPart, 15, 15), /^This recording has no step 15/);
  assert.match(lackOfSteps(runOf(2e8, 3e8), 12, 12), /: it holds step 7\. /);
  assert.match(lackOfSteps(runOf(2e8, 2.5e8), 7, 7), /: it holds no whole step\. /);
});

test("a file with a part of a run says which times it lacks", () => {
  assert.equal(lackOfTime(kPart, {from: 1e8, to: 3e8}), "");
  assert.equal(lackOfTime(kPart, {from: 5e8, to: 6e8}),
    "This file holds nothing of this time: it holds 200 ms to 500 ms, steps 7 to 9. batchlight view train.batchlight shows all.");
});

test("sums of a range say what they are of", () => {
  assert.equal(heldOfRange(kPart, {from: 0, to: 1e9, steps: {first: 5, last: 14}}),
    "Sums of 3 of these 10 steps, 7 to 9: this file holds no others.");
  assert.equal(heldOfRange(kPart, {from: 4e8, to: 6e8, steps: {first: 9, last: 10}}),
    "Sums of 1 of these 2 steps, 9: this file holds no others.");
  assert.equal(heldOfRange(kPart, {from: 2e8, to: 5e8, steps: {first: 7, last: 9}}), "");
  assert.equal(heldOfRange(kPart, {from: 1e8, to: 3e8}),
    "Sums of 200 ms to 300 ms: this file holds nothing of the rest.");
  assert.equal(heldOfRange(kPart, {from: 2.5e8, to: 3e8}), "");
});
