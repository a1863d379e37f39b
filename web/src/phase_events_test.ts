import assert from "node:assert/strict";
import {test} from "node:test";
import {eventsOf} from "./phase_events";
import {sampleSteps} from "./sample_steps";
import type {Steps} from "./data";

// Forward of four steps, the first of which does not count: "a" grows, "b" is in the last one only.
function sample(): Steps {
  const steps = sampleSteps([10, 20, 30, 50], [1]);
  const list = {
    kind: [4, 4],
    name: [0, 1],
    op: [null, null],
    after: [null, null],
    before: [null, null],
    total_ns: [60, 15],
    count: [3, 2],
    longest_ns: [25, 10],
    longest_start_ns: [0, 0],
    longest_step: [3, 3],
    bin_ns: [
      [7.5, 15, 22.5, 22.5],
      [0, 0, 0, 15],
    ],
    bin_count: [1, [0, 0, 0, 2]],
    left_out: 0,
  };
  steps.events = {
    bins: {first_step: [0, 1, 2, 3], steps: [1, 1, 1, 1], counts: [0, 1, 1, 1]},
    lists: [list, list],
  };
  return steps;
}

test("without a selection the events are those of the steps that count", () => {
  const steps = sample();
  const {events, steps: count, coarse} = eventsOf(steps, 1, null);
  assert.equal(count, 3);
  assert.equal(coarse, 0);
  assert.deepEqual(events.map(({per_step_ns}) => per_step_ns), [20, 5]);
  assert.deepEqual(events.map(({share}) => share), [0.8, 0.2]);
});

test("the events of a selection add up to the phase in it", () => {
  const steps = sample();
  const {events} = eventsOf(steps, 1, {first: 2, last: 3});
  const sum = events.reduce((ns, event) => ns + event.per_step_ns, 0);
  assert.equal(sum, (steps.phase_ns[1][2] + steps.phase_ns[1][3]) / 2);
  assert.deepEqual(events.map((event) => event.count), [1, 1]);
});

test("what does not occur in the selection is not shown, and warm-up can be selected", () => {
  const steps = sample();
  const {events} = eventsOf(steps, 1, {first: 0, last: 0});
  assert.deepEqual(events.map(({row, per_step_ns}) => [row, per_step_ns]), [[0, 7.5]]);
});

test("a selection inside a bin says how coarse its events are", () => {
  const steps = sample();
  steps.events!.bins = {first_step: [0, 1], steps: [1, 3], counts: [0, 1]};
  steps.events!.lists[1].bin_ns = [[7.5, 60], [0, 15]];
  steps.events!.lists[1].bin_count = [1, [0, 2]];
  const {events, coarse} = eventsOf(steps, 1, {first: 2, last: 2});
  assert.equal(coarse, 3);
  assert.deepEqual(events.map(({per_step_ns}) => per_step_ns), [20, 5]);
});

test("what is put together comes last", () => {
  const steps = sample();
  const list = steps.events!.lists[1];
  list.left_out = 3;
  list.total_ns = [10, 65];
  assert.deepEqual(eventsOf(steps, 1, null).events.map(({row}) => row), [0, 1]);
});
