import assert from "node:assert/strict";
import {test} from "node:test";
import {sampleSteps} from "../sample_steps";
import {columnsFor, heightThatFits, runsOfKind} from "./columns";

test("few steps get a column each", () => {
  const columns = columnsFor(sampleSteps([10, 20, 30], []), 900);
  assert.equal(columns.length, 3);
  assert.deepEqual(columns[1].phase_ns, [5, 15]);
});

test("many steps share columns; the longest of each is kept", () => {
  const durations = Array.from({length: 1000}, (_, i) => (i === 500 ? 900 : 10));
  const steps = sampleSteps(durations, []);
  steps.outlier = [500];
  const columns = columnsFor(steps, 300);
  assert.ok(columns.length <= 100);
  assert.equal(Math.max(...columns.map((column) => column.longest_ns)), 900);
  assert.equal(columns.filter((column) => column.has_outlier).length, 1);
  const mean = columns.reduce((sum, c) => sum + c.duration_ns * (c.last - c.first + 1), 0) / 1000;
  assert.ok(Math.abs(mean - 10.89) < 1e-9);
});

test("a few very long steps do not press the others flat", () => {
  const durations = Array.from({length: 100}, (_, i) => (i < 2 ? 1000 : 10));
  const fit = heightThatFits(columnsFor(sampleSteps(durations, []), 900));
  assert.equal(fit.cut, true);
  assert.ok(fit.height < 20);
  const few = heightThatFits(columnsFor(sampleSteps([900, 500, 10, 11, 12], [1, 1]), 900));
  assert.ok(few.cut && few.height < 20);
  assert.equal(heightThatFits(columnsFor(sampleSteps([10, 11, 12], []), 900)).cut, false);
});

test("neighbours of one kind form a run", () => {
  const columns = columnsFor(sampleSteps([1, 1, 1, 1, 1], [1, 1, 0, 3, 0]), 900);
  assert.deepEqual(runsOfKind(columns), [
    {kind: 1, from: 0, to: 2},
    {kind: 0, from: 2, to: 3},
    {kind: 3, from: 3, to: 4},
    {kind: 0, from: 4, to: 5},
  ]);
});
