import assert from "node:assert/strict";
import {test} from "node:test";
import type {PageData, Steps, Tree} from "./data";
import {findOutliers} from "./outliers";
import {sampleSteps} from "./sample_steps";

// Two ranks of three steps; the last one of rank 1 spends 90 ns more in "save".
function steps(durations: number[], outlier: number[]): Steps {
  const all = sampleSteps(durations, []);
  const outlier_phases: [number, number][][] = outlier.map(() => [[1, 60], [0, 20]]);
  return {...all, outlier, outlier_phases, summary: {...all.summary, median_ns: 10}};
}

const kTracks = [steps([10, 10, 10], []), steps([10, 10, 100], [2])];
const kBins = {
  first_step: [0, 1, 2],
  steps: [1, 1, 1],
  counts: [1, 1, 1]
};
const kTree = {
  kinds: [{key: "operator", name: "operator", work: false}],
  kind: [0, 0],
  name: [0, 1],
  bins: {...kBins, steps: [2, 2, 2]},
  self_ns: [
    [10, 10, 10],
    [4, 4, 94],
  ],
  ranks: [
    {name: "rank 0", step_ns: 10, bins: kBins, self_ns: [[5, 5, 5], [2, 2, 2]], calls: [1, 1]},
    {name: "rank 1", step_ns: 40, bins: kBins, self_ns: [[5, 5, 5], [2, 2, 92]], calls: [1, 1]},
  ],
} as unknown as Tree;

const kPage = {
  tree: kTree,
  strings: ["load", "save"],
  training: kTracks.map((track) => ({process: "", tracks: [track]})),
} as unknown as PageData;

test("a long step of one rank is explained by the calls of that rank", () => {
  assert.deepEqual(findOutliers(kPage, kTracks[0]), []);
  const [outlier] = findOutliers(kPage, kTracks[1]);
  assert.deepEqual(outlier.calls, [{name: "save", ns: 90}]);
  assert.deepEqual(outlier.phases, [{name: "forward", ns: 60}, {name: "data loading", ns: 20}]);
});

test("means over ranks do not explain the step of one", () => {
  const page = {...kPage, tree: {...kTree, ranks: undefined}};
  assert.deepEqual(findOutliers(page, kTracks[1])[0].calls, []);
});

test("the stage that a long step is told in is named with it", () => {
  const track = {...kTracks[1], outlier_stage: [["between epochs", 80]] as [string, number][]};
  assert.deepEqual(findOutliers(kPage, track)[0].stage, {name: "between epochs", ns: 80});
  assert.equal(findOutliers(kPage, kTracks[1])[0].stage, null);
});
