import assert from "node:assert/strict";
import {test} from "node:test";
import type {Track} from "../data/track";
import type {Choices} from "./layout";
import {blockAt, kRowHeight, lanesIn, layOut} from "./layout";

function track(id: number, parent: number, rows: number, open = true): Track {
  return {
    id,
    parent,
    kind: rows ? "thread" : "process",
    info: null,
    name: `track ${id}`,
    rows,
    open,
    run: 0
  };
}

const tracks =
  [track(0, -1, 0), track(1, 0, 3), track(2, 0, 5, false), track(3, -1, 0), track(4, 3, 2)];
const none: Choices = {
  open: new Map<number, boolean>(),
  pinned: [],
  filter: ""
};
const shown = (choices: Partial<typeof none>): string => layOut(tracks,
  {...none, ...choices}).blocks.map(({track: {id},
                                 rows}) => `${id}:${rows}`).join(" ");

test("a folded track shows its first row, a folded group its heading", () => {
  assert.equal(shown({}), "0:0 1:3 2:1 3:0 4:2");
  assert.equal(shown({open: new Map([[0, false], [4, false]])}), "0:0 3:0 4:1");
  assert.equal(shown({open: new Map([[2, true]])}), "0:0 1:3 2:5 3:0 4:2");
});

test("a filter keeps what is around the tracks it finds, unfolded", () => {
  assert.equal(shown({filter: "track 2"}), "0:0 2:5");
  assert.equal(shown({filter: "nothing"}), "");
  assert.equal(shown({filter: "nothing", also: 2}), "0:0 2:5");
});

test("several tracks with nothing to show are one line, which unfolds", () => {
  const many = [track(0, -1, 0), ...[1, 2, 3, 4, 5].map((id) => track(id, 0, 1))];
  const ids = (quiet: number[], more: Partial<typeof none> = {}): string => layOut(many,
    {...none, ...more, quiet: new Set(quiet)}).blocks.map(({track:
                                                              {id}}) => id).join(" ");
  const line = 2 ** 22;
  assert.equal(ids([2, 4]), "0 1 2 3 4 5");
  assert.equal(ids([2, 3, 4]), `0 1 ${line} 5`);
  assert.equal(ids([2, 3, 4], {open: new Map([[line, true]])}), `0 1 ${line} 2 3 4 5`);
  assert.equal(ids([2, 3, 4], {filter: "track 3"}), "0 3");
});

test("blocks follow one another without holes", () => {
  const {blocks, height} = layOut(tracks, none);
  let top = 0;
  for (const block of blocks) {
    assert.equal(block.top, top);
    top += block.height;
  }
  assert.equal(height, top);
  blocks.forEach((block, i) => {
    assert.equal(blockAt(blocks, block.top), i);
    assert.equal(blockAt(blocks, block.top + block.height - 1), i);
  });
});

test("only rows in the window are there, and pinned ones stay on top", () => {
  const many = [track(0, -1, 0), ...Array.from({length: 500}, (_, i) => track(i + 1, 0, 4))];
  const layout = layOut(many, {...none, pinned: [7]});
  const lanes = lanesIn(layout, 10_000, 600);
  assert.ok(lanes.length < 600 / kRowHeight + 6);
  assert.deepEqual(lanes.slice(0, 4).map(({block, depth}) => [block.track.id, depth]),
    [[7, 0], [7, 1], [7, 2], [7, 3]]);
  assert.ok(!layout.blocks.some(({track}) => track.id === 7));
  assert.ok(lanes.slice(4).every(({y}) => y > layout.pinnedHeight - kRowHeight && y < 600));
});
