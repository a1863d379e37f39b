import assert from "node:assert/strict";
import {test} from "node:test";
import {trackId} from "../data/track";
import type {Track} from "../data/track";
import {threadsBeside} from "./meanwhile";

test("of two runs a gap stands beside the threads of its own", () => {
  const [process, gpu] = [1000, 1001];
  const track = (run: number, id: number, parent: number, kind: string): Track => ({
    id: trackId(run, id),
    parent,
    run,
    info: null,
    kind,
    name: `${kind} of ${"AB"[run]}`,
    rows: 1,
    open: true,
  });
  const group = (id: number, parent: number): Track =>
    ({...track(0, 0, parent, "process"), id, rows: 0});
  // As two runs are shown: the tracks of B in the groups of A.
  const tracks = [
    group(process, -1),
    group(gpu, process),
    ...[0, 1].map((run) => track(run, 0, process, "thread")),
    ...[0, 1].map((run) => track(run, 1, gpu, "idle")),
  ];
  for (const run of [0, 1])
    assert.deepEqual(threadsBeside(tracks, run, trackId(run, 1)).map(({name}) => name),
      [`thread of ${"AB"[run]}`]);
});
