import assert from "node:assert/strict";
import {test} from "node:test";
import type {Steps} from "./data";
import {sampleSteps} from "./sample_steps";
import {gpuIsLimit, verdictOf} from "./verdict";

function sentence(tracks: Steps[]): string {
  const verdict = verdictOf(tracks, {first: 0, last: tracks[0].number.length - 1});
  return verdict ? verdict.before + verdict.share + verdict.between + verdict.phase : "";
}

// One step of 100 ns on a GPU with these parts.
function gpu(parts: Record<string, number>): Steps {
  const steps = sampleSteps([100], []);
  steps.track = "GPU 0";
  steps.idle_of_limit = 0.1;
  steps.phases = Object.keys(parts).map((key) => {
    const idle = key.startsWith("idle_") ? {where: "while the CPU is in ", cause: key} : undefined;
    return {key, label: key, help: "", idle};
  });
  steps.phase_ns = Object.values(parts).map((ns) => [ns]);
  return steps;
}

test("without a GPU the largest phase is what a step is", () => {
  assert.equal(sentence([sampleSteps([100], [])]), "75.0 % of the mean step is forward");
});

test("a GPU that works all the time is the limit, whatever the CPU does", () => {
  const busy = gpu({compute: 30, tensor_core: 62, idle_queue: 8});
  assert.equal(sentence([sampleSteps([100], []), busy]),
    "GPU 0 is the limit: it works 92.0 % of the mean step, most on tensor_core");
});

test("an idle GPU is named with the largest cause", () => {
  const idle = gpu({compute: 50, idle_operators: 20, idle_data_loading: 30});
  assert.equal(sentence([sampleSteps([100], []), idle]),
    "GPU 0 is idle 50.0 % of the mean step, most while the CPU is in idle_data_loading");
});

test("a GPU without parts says nothing", () => {
  assert.equal(sentence([sampleSteps([100], []), gpu({})]), "75.0 % of the mean step is forward");
});

// As the analysis sums up its one step.
function summed(steps: Steps): Steps {
  const phase_mean_ns = steps.phase_ns.map(([ns]) => ns);
  return {...steps, summary: {...steps.summary, mean_ns: 100, phase_mean_ns}};
}

test("the verdict names the track that it is about", () => {
  const cpu = summed(sampleSteps([100], []));
  const busy = summed(gpu({compute: 95, idle_queue: 5}));
  const idle = summed(gpu({compute: 50, idle_operators: 50}));
  const empty = summed(gpu({}));
  assert.equal(verdictOf([cpu], null)?.track, 0);
  assert.equal(verdictOf([cpu, idle], null)?.track, 1);
  assert.equal(verdictOf([cpu, empty], null)?.track, 0);
  assert.deepEqual(
    [[cpu], [cpu, idle], [cpu, busy], [cpu, empty]].map(gpuIsLimit), [false, false, true, false]);
});
