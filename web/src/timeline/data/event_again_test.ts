import assert from "node:assert/strict";
import {test} from "node:test";

import {eventAgain} from "./event_again";
import type {EventAnswer} from "./protocol";
import {CallError} from "./source";
import type {Source} from "./source";

const kOld = {
  ref: 7,
  table: "kernels",
  row: 7,
  name: "gemm",
  from: 100,
  track: 3
} as EventAnswer;

// Of the events that a server has by row; `next` finds by text, track and time.
function serverOf(events: readonly Partial<EventAnswer>[]): Source {
  const all = events.map((event, ref) => ({...kOld, row: ref, ref, ...event}));
  const call = async(name: string, request: object): Promise<unknown> => {
    const {ref, row, reading = 0, text, at, track} =
      request as Record<string, number>& {text: string};
    if (name === "next") {
      const fits = (event: EventAnswer): boolean => event.name === text &&
        event.from > Number(at) && (track === undefined || event.track === track);
      return {event: all.find(fits) ?? null};
    }
    const event =
      all.find(one => ref === undefined ? one.row === row && (one.reading ?? 0) === reading
                                        : one.ref === ref);
    if (!event) throw new CallError("unknown", "there is no such event");
    return event;
  };
  return {call} as unknown as Source;
}

test("an event whose row stayed is found by it", async () => {
  const event = await eventAgain(serverOf([{row: 7}]), kOld);
  assert.equal(event?.ref, 0);
});

test("an event is found by name, time and track where its row is another's", async () => {
  const moved = [{row: 7, from: 90}, {track: 2}, {track: 3}];
  assert.equal((await eventAgain(serverOf(moved), kOld))?.ref, 2);
  const renumbered = [{row: 7, from: 90}, {track: 5}];
  assert.equal((await eventAgain(serverOf(renumbered), kOld))?.ref, 1);
});

test("an event without a row is found by name, and the reading tells rows apart", async () => {
  assert.equal((await eventAgain(serverOf([{row: 9}]), kOld))?.ref, 0);
  const both = [{row: 7, track: 4}, {row: 7, reading: 1}];
  assert.equal((await eventAgain(serverOf(both), {...kOld, reading: 1}))?.ref, 1);
});

test("what is not there any more is let go", async () => {
  assert.equal(await eventAgain(serverOf([]), kOld), null);
  assert.equal(await eventAgain(serverOf([{row: 7, name: "relu"}, {from: 101}]), kOld), null);
});

test("what was not answered is not let go: the recording was read once more", async () => {
  const later = serverOf([{row: 9}]);
  const call: Source["call"] = async (name, request) => {
    if (name === "event") throw new CallError("generation", "read anew");
    return later.call(name, request);
  };
  const found = await eventAgain({call} as unknown as Source, kOld).catch(({code}) => code);
  assert.equal(found, "generation");
});
