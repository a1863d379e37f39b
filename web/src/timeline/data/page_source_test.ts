import assert from "node:assert/strict";
import {test} from "node:test";
import golden from "../../../../tests/golden/timeline_sampled.json";
import {decodePageEvents} from "./page_events";
import {PageSource} from "./page_source";
import type {EventAnswer, FindAnswer, NamesAnswer, RunAnswer} from "./protocol";

// What the server says of what samples found: src/timeline/answers/sampled_calls_test.cpp writes
// it.
const run = golden.run as unknown as RunAnswer;
const answers = golden.answers as unknown as EventAnswer[];
const events = decodePageEvents(Uint8Array.from(golden.bytes));
const names = {
  ids: golden.names.map((_, i) => i),
  names: golden.names
};

async function told(info: RunAnswer, ref: number): Promise<EventAnswer> {
  return new PageSource(info, names, events).call<EventAnswer>("event", {ref});
}

test("a page in a file says of sampled functions and gaps what the server says", async () => {
  assert.ok(answers.length > 5);
  for (const answer of answers) {
    const {fields, links, ...said} = await told(run, answer.ref);
    assert.deepEqual([fields, links], [[], []]);
    assert.deepEqual({...said, parents: said.parents.map(({ref}) => ref)},
      {...answer, parents: answer.parents.map(({ref}) => ref)});
  }
});

test("a page in a file searches whole names, as the server does", async () => {
  const source = new PageSource(run, names, events);
  const {matches} = await source.call<FindAnswer>("find", {text: "memory_order"});
  assert.deepEqual(matches.map(({count}) => count), [1]);
  const [{name}] = matches;
  const shown = (await source.call<NamesAnswer>("names", {ids: [name]})).names[0];
  assert.ok(shown.length === 300 && matches[0].text.startsWith(shown));
});

test("what is inside is told of what the file holds as a whole", async () => {
  const {ref, from, to} = answers[0];
  const held = {left_out: 5, why: "", from, to};
  assert.ok((await told({...run, static: held}, ref)).children);
  assert.equal((await told({...run, static: {...held, from: from + 1}}, ref)).children, undefined);
});
