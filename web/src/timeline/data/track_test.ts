import assert from "node:assert/strict";
import {test} from "node:test";
import type {Track} from "./track";
import {interleaved, namesOf} from "./track";

function track(run: number, id: number, parent: number, kind: string, rows: number): Track {
  return {
    id: 100 * run + id,
    parent: parent < 0 ? -1 : 100 * run + parent,
    run,
    info: null,
    kind,
    name: kind,
    rows,
    open: true
  };
}

const spelled = (tracks: Track[]): string =>
  tracks.map(({run, kind, parent}) => `${"AB"[run]}.${kind}<${parent}`).join(" ");

test("what is the same in two runs stands together, and nothing is lost", () => {
  const a = [
    track(0, 0, -1, "process", 0), track(0, 1, 0, "steps", 1), track(0, 2, 0, "thread", 3),
    track(0, 3, 0, "gpu", 0), track(0, 4, 3, "stream", 1)
  ];
  const b = [
    track(1, 0, -1, "process", 0), track(1, 1, 0, "thread", 3), track(1, 2, 0, "thread", 1),
    track(1, 3, 0, "gpu", 0), track(1, 4, 3, "stream", 1), track(1, 5, -1, "host", 0),
    track(1, 6, 5, "driver", 1)
  ];
  assert.equal(spelled(interleaved(a, b)),
    "A.process<-1 A.steps<0 A.thread<0 B.thread<0 A.gpu<0 A.stream<3 B.stream<3 B.thread<0 B.host<-1 B.driver<105");
});

test("a track is called the same in the next reading, whatever its number", () => {
  const before =
    [track(0, 0, -1, "process", 0), track(0, 1, 0, "thread", 3), track(0, 2, 0, "thread", 1)];
  const after = [
    track(0, 5, -1, "process", 0), track(0, 6, 5, "steps", 1), track(0, 7, 5, "thread", 3),
    track(0, 8, 5, "thread", 1)
  ];
  const [old, now] = [namesOf(before), namesOf(after)];
  const idOf = new Map([...now].map(([id, name]) => [name, id]));
  assert.deepEqual([0, 1, 2].map((id) => idOf.get(old.get(id)!)), [5, 7, 8]);
  assert.equal(new Set(now.values()).size, 4);
});

test("the heading of both runs is neither run's process", () => {
  const named = (name: string): string => {
    const [a, b] = [track(0, 0, -1, "process", 0), track(1, 0, -1, "process", 0)];
    return interleaved([{...a, name: "train.py (pid 12)"}], [{...b, name}])[0].name;
  };
  assert.equal(named("train.py (pid 7)"), "train.py");
  assert.equal(named("train.py (pid 12)"), "train.py (pid 12)");
  assert.equal(named("tune.py (pid 7)"), "train.py / tune.py");
});
