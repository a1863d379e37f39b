import assert from "node:assert/strict";
import {test} from "node:test";
import type {EventRef, LongestAnswer, Ref, Wanted} from "../data/protocol";
import type {Model, RunView, Selected} from "../state/model";
import {placeOfText} from "../data/page_search";
import {CallError} from "../data/source";
import {Finder} from "./finder";

const kHash = "9f2c4d0a11223344";

interface Gap {
  from: number;
  length: number;
  name?: string;
}

function eventOf({from, length, name = "idle: data loading"}: Gap, ref: Ref): EventRef {
  return {ref, name, name_id: 1, table: "gpu_idle", from, to: from + length, track: 0, depth: 0};
}

// A run whose gaps have their place in the list as ref.
function run(index: number, offset: number, gaps: Gap[]): RunView {
  const events = gaps.map(eventOf);
  const byLength = [...events].sort((a, b) => b.to - b.from - (a.to - a.from));
  const answers:
    Record<string, (request: never) => unknown> = {
      longest: ({nth}: Wanted&{nth: number}): LongestAnswer =>
        ({event: byLength[nth] ?? null, count: events.length, steps: 3, outside: []}),
      next:
        ({at, direction, text, text_at}:
            Wanted&{
              at: string;
              direction: number
            }) =>
          ({
            event: (direction > 0 ? events : [...events].reverse())
                     .filter(({name}) => !text || placeOfText(name, text) === text_at)
                     .find(({from}) => direction * (from - Number(at)) > 0) ??
              null
          }),
    };
  const info = {
    from: -offset,
    to: 100 - offset,
    hash: kHash,
    steps: [],
    tracks: [{kind: "idle"}],
    static: undefined
  };
  const source = {call: async (name: string, request: object) => answers[name](request as never)};
  return {index, offset, info, source} as unknown as RunView;
}

// Presses and the refs they lead to, as "B2".
function looking(runs: RunView[], selected: Selected|null = null) {
  const model = {runs, selected, found: null, view: {from: 0, to: 100}, searched: null} as
    unknown as Model;
  const said: string[] = [];
  let asked = 0;
  const finder = new Finder(model, {
    last: async (ask) => {
      const mine = ++asked;
      const answer = await ask().catch(() => null);
      return mine === asked ? answer : null;
    },
    renew: async () => {
      said.push("renewed");
    },
    reach: (of, ref) => {
      model.selected = {run: of, event: {ref, from: 0}} as unknown as Selected;
    },
    say: (text) => said.push(text),
  });
  const shown = (): string =>
    model.selected ? "AB"[model.selected.run.index] + model.selected.event.ref : "";
  const press = async(): Promise<string> => {
    await finder.longestGap();
    return shown();
  };
  return {model, finder, said, press, shown};
}

const a = run(0, 0, [{from: 10, length: 5}, {from: 60, length: 8}]);
const b = run(1, -1000, [{from: 1020, length: 3}, {from: 1070, length: 20}]);

test("I without a selection goes to the longest gap of either run, and says whose", async () => {
  const {model, press, said} = looking([a, b]);
  assert.equal(await press(), "B1");
  assert.equal(said.pop(), "longest of 2 of B");
  assert.deepEqual(
    model.searched?.others?.map(({run: {index}, event: {ref}}) => [index, ref]), [[0, 1]]);
  assert.deepEqual([await press(), await press()], ["B0", "B1"]);  // after the last the longest
});

test(
  "I counts on from the run of the selected event, and anew after another selection", async () => {
    const {model, finder, press, said} = looking([a, b]);
    const select = (of: RunView): void => {
      model.selected = {run: of, event: {ref: 7, from: 0}} as unknown as Selected;
      finder.forgetGaps();
    };
    select(a);
    assert.deepEqual([await press(), await press()], ["A1", "A0"]);
    assert.equal(said.pop(), "2nd longest of 2 of A");
    select(b);
    assert.deepEqual([await press(), await press(), await press()], ["B1", "B0", "B1"]);
    model.selected = null;
    finder.forget();
    assert.equal(await press(), "B1");
  });

test("I twice before the first answer goes to the second gap of the run with the longest",
  async () => {
    const {finder, shown} = looking([a, b]);
    await Promise.all([finder.longestGap(), finder.longestGap()]);
    assert.equal(shown(), "B0");
  });

// The run answers so many questions with this error.
function failing(times: number, code: string): RunView {
  const one = run(0, 0, [{from: 10, length: 5}, {from: 60, length: 8}]);
  const {source} = one;
  let left = times;
  const call = async(name: string, request: object): Promise<unknown> => {
    if (left-- > 0) throw new CallError(code, "no answer");
    return source.call(name as never, request);
  };
  return {...one, source: {call}} as unknown as RunView;
}

test("I while the recording is read anew asks once more, of what it is now", async () => {
  const {press, said} = looking([failing(1, "generation")]);
  assert.equal(await press(), "A1");
  assert.deepEqual(said, ["renewed", "longest of 2"]);
});

test("I without an answer does not count", async () => {
  for (const code of ["generation", "busy"]) {
    const {press} = looking([failing(2, code)]);
    let shown = "";
    while (!shown) shown = await press();
    assert.equal(shown, "A1");
  }
});

test("I in one run begins again behind the last", async () => {
  const {press, said} = looking([a]);
  assert.deepEqual([await press(), await press(), await press()], ["A1", "A0", "A1"]);
  assert.equal(said.pop(), "longest of 2");
});

test("the next of both runs is the nearest on the axis", async () => {
  const {model, finder, shown} = looking([a, b]);
  await finder.next({kind: "gap"}, 1);
  assert.equal(shown(), "A0");  // at 10, the first that begins in the window
  model.selected = null;
  await finder.next({kind: "gap"}, -1);
  assert.equal(shown(), "B1");  // at 70 on the axis
});

test("a search goes round, and begins at the left edge of the window", async () => {
  const {model, finder, said, shown} = looking([a]);
  const press = async(direction: 1|- 1): Promise<string> => {
    await finder.walk("idle", direction);
    const {event} = model.selected!;
    event.from = [10, 60][event.ref];
    return shown();
  };
  assert.deepEqual([await press(1), await press(1)], ["A0", "A1"]);
  assert.deepEqual(said, []);
  assert.equal(await press(1), "A0");
  assert.equal(said.pop(), "None after this: the first again.");
  assert.equal(await press(-1), "A1");
  assert.equal(said.pop(), "None before this: the last again.");
});

test("a search goes through what is called just so, then what begins with it, then the rest",
  async () => {
    const names = ["iadd", "add_", "Add", "add", "added"];
    const events = names.map((name, i) => ({from: 10 * i, length: 5, name}));
    const {model, finder, said, shown} = looking([run(0, 0, events)]);
    const press = async(direction: 1|- 1): Promise<string> => {
      await finder.walk("add", direction);
      model.selected!.event.from = 10 * model.selected!.event.ref;
      return shown();
    };
    const pressed = [];
    for (let i = 0; i < 6; ++i) pressed.push(await press(1));
    assert.deepEqual(pressed, ["A2", "A3", "A1", "A4", "A0", "A2"]);
    assert.deepEqual(said, [
      "Now names that begin with it.", "Now names that have it elsewhere.",
      "None after this: the first again."
    ]);
    assert.deepEqual([await press(-1), await press(-1)], ["A0", "A4"]);
    // Of another selection the walk begins anew, and of what is meant most there are some before.
    model.selected = {run: model.runs[0], event: {ref: 1, from: 10}} as unknown as Selected;
    assert.equal(await press(1), "A2");
  });

test("without a GPU I goes to the longest phase in which a step waits", async () => {
  const lists: Record<number, number[]> = {4: [9, 2], 7: [5]};  // lengths by name
  const longest = ({name = 0, nth, within, table, kind}: Wanted&{nth: number}): LongestAnswer => {
    assert.deepEqual([within, table, kind], ["steps", "step_phases", undefined]);
    const length = lists[name][nth];
    const event = length === undefined ? null : eventOf({from: 0, length}, 10 * name + nth);
    return {event, count: lists[name].length};
  };
  const of = {
    index: 0,
    offset: 0,
    info: {tracks: [{kind: "thread"}], steps: [{steady: [1, 2, 3]}], static: undefined},
    palettes: new Map([[
      "phase", new Map([
        [4, {name: 4, key: "data_loading"}], [5, {name: 5, key: "forward"}],
        [7, {name: 7, key: "other"}]
      ])
    ]]),
    source: {call: async (_: string, request: never) => longest(request)},
  } as unknown as RunView;
  const {press, model} = looking([of]);
  const shown = [await press(), await press(), await press(), await press()];
  assert.deepEqual(shown, ["A40", "A70", "A41", "A40"]);
  assert.deepEqual([model.searched?.count, model.searched?.steps], [3, 3]);
});
