// Bytes that the program wrote, in the words that its own tests have of them
// (src/timeline/answers: view_text.cpp, event_bytes_test.cpp).
import assert from "node:assert/strict";
import {test} from "node:test";
import eventBytes from "../../../../tests/golden/timeline_events.bin";
import eventText from "../../../../tests/golden/timeline_events.txt";
import viewBytes from "../../../../tests/golden/timeline_view.bin";
import viewText from "../../../../tests/golden/timeline_view.txt";
import {decodeView} from "./answer";
import type {Items, Samples} from "./items";
import {decodePageEvents} from "./page_events";
import type {PageEvents} from "./page_events";

function wordsOfItems({count, start, width, ref, name, merged, busy, flags}: Items): string[] {
  return Array.from({length: count},
    (_, i) => `  start ${start[i]} width ${width[i]} ref ${ref[i]} name ${name[i]} count ${
      merged[i]} busy ${busy[i]} flags ${flags[i]}`);
}

function wordsOfSamples({count, start, least, most, last}: Samples): string[] {
  return Array.from({length: count},
    (_, i) => `  sample ${start[i]} min ${least[i]} max ${most[i]} last ${last[i]}`);
}

const rowName = (key: string): string => {
  const [track, row] = key.split(":");
  return `track ${track} row ${row}`;
};

test("the page reads a picture as the program wrote it", () => {
  const lines = viewText.trimEnd().split("\n");
  const counters = new Set(lines.flatMap((line, i) => line.startsWith("  sample ")
      ? lines.slice(0, i)
          .filter((one) => one.startsWith("track "))
          .slice(-1)
          .map((one) => Number(one.split(" ")[1]))
      : []));
  assert.ok(counters.size > 0);
  const buffer = viewBytes.slice().buffer as ArrayBuffer;
  const answer = decodeView(buffer, (track) => counters.has(track));
  const rows = new Map<string, string[]>();
  for (const [key, items] of answer.rows) rows.set(rowName(key), wordsOfItems(items));
  for (const [key, samples] of answer.counters) rows.set(rowName(key), wordsOfSamples(samples));
  const order = lines.filter((line) => line.startsWith("track "));
  assert.equal(rows.size, order.length);
  const {from, to, step, generation, shrunk} = answer;
  const head =
    `from ${from} to ${to} step ${step} generation ${generation}${shrunk ? " changed" : ""}`;
  assert.deepEqual([head, ...order.flatMap((row) => [row, ...rows.get(row)!])], lines);
});

function wordsOfEvents({rows, longNames = new Map()}: PageEvents): string[] {
  const events = [...rows].flatMap(
    ([key, {start, end, ref, name, open}]) => [rowName(key),
      ...Array.from(start,
        (from, i) =>
          `  ${from} ${end[i]} ref ${ref[i]} name ${name[i]}${open.has(i) ? " open" : ""}`)]);
  return [...events, ...[...longNames].map(([id, text]) => `name ${id} ${text}`)];
}

test("the page in a file reads its events as the program wrote them", () => {
  assert.deepEqual(wordsOfEvents(decodePageEvents(eventBytes)), eventText.trimEnd().split("\n"));
});
