// Where each track is on the screen. A track is a block of equally high rows; what is outside of
// the window costs nothing.
import type {Track} from "../data/track";
import {childrenOf} from "../data/track";

export interface Block {
  track: Track;
  level: number;  // of nesting
  top: number;
  height: number;
  rows: number;  // shown; 0: a heading
  rowHeight: number;
  folds: boolean;
  open: boolean;
}

export interface Layout {
  pinned: Block[];  // stay on top; tops count from the top of the window
  pinnedHeight: number;
  blocks: Block[];  // tops count from the end of the pinned ones
  height: number;
}

export const kRowHeight = 18;
const kHeadingHeight = 26;
const kCounterHeight = 42;
const kGap = 5;  // below a track

const kQuietId = 2 ** 22;  // added to a group's id
const kFewQuiet = 3;       // so many have their rows

export interface Choices {
  open: ReadonlyMap<number, boolean>;  // by id, of tracks that the reader folded or unfolded
  pinned: readonly number[];           // ids
  filter: string;                      // of track names; "": all
  also?: number;                       // id of a track that is shown whatever the filter is
  quiet?: ReadonlySet<number>;         // ids, of tracks with nothing to show yet
  scale?: number;                      // of heights; 1
}

export function layOut(tracks: readonly Track[], choices: Choices): Layout {
  const children = childrenOf(tracks);
  const wanted = matching(tracks, choices.filter, choices.also);
  const blocks: Block[] = [];
  let top = 0;
  const add = (track: Track, level: number): void => {
    if ((wanted && !wanted.has(track.id)) || choices.pinned.includes(track.id)) return;
    const inside = children.get(track.id) ?? [];
    const folds = inside.length > 0 || track.rows > 1 || isCounter(track);
    const open = choices.filter !== "" || (choices.open.get(track.id) ?? track.open);
    const block = blockOf(track, level, folds, open, top, choices.scale);
    blocks.push(block);
    top += block.height;
    if (!open) return;
    const quiet = quietOf(track, inside, choices);
    for (const child of inside) {
      if (!quiet.includes(child)) add(child, level + 1);
      if (child !== quiet[0]) continue;
      const line = gathered(track, quiet);
      children.set(line.id, quiet);
      add(line, level + 1);
    }
  };
  for (const track of children.get(-1) ?? []) add(track, 0);
  const pinned = pinnedBlocks(tracks, choices);
  const last = pinned[pinned.length - 1];
  return {pinned, pinnedHeight: last ? last.top + last.height : 0, blocks, height: top};
}

// Those of a group that have nothing to show and would push away what has: they stand in one line.
function quietOf(group: Track, inside: readonly Track[], choices: Choices): Track[] {
  if (!choices.quiet || choices.filter !== "" || isGathered(group)) return [];
  const found = inside.filter(({id}) => choices.quiet!.has(id) && !choices.pinned.includes(id));
  return found.length < kFewQuiet ? [] : found;
}

function isGathered({kind}: Track): boolean {
  return kind === "quiet";
}

function gathered(group: Track, quiet: readonly Track[]): Track {
  const kinds = new Set(quiet.map(({kind}) => kind));
  const word = kinds.size > 1 ? "tracks" : quiet[0].kind === "stream" ? "streams" : "threads";
  return {
    id: group.id + kQuietId,
    parent: group.id,
    run: group.run,
    info: null,
    kind: "quiet",
    name: `${quiet.length} ${word}, empty here`,
    rows: 0,
    open: false,
  };
}

function pinnedBlocks(tracks: readonly Track[], choices: Choices): Block[] {
  const blocks: Block[] = [];
  let top = 0;
  for (const id of choices.pinned) {
    const track = tracks.find((one) => one.id === id);
    if (!track || track.rows === 0) continue;
    const open = choices.open.get(id) ?? track.open;
    const block = blockOf(track, 0, track.rows > 1 || isCounter(track), open, top, choices.scale);
    blocks.push(block);
    top += block.height;
  }
  return blocks;
}

function isCounter({info}: Track): boolean {
  return info?.counter !== undefined;
}

function blockOf(
  track: Track, level: number, folds: boolean, open: boolean, top: number, scale = 1): Block {
  const rows = open ? track.rows : Math.min(1, track.rows);
  const rowHeight = Math.round(scale * (open && isCounter(track) ? kCounterHeight : kRowHeight));
  const height = rows === 0 ? Math.round(scale * kHeadingHeight) : rows * rowHeight + kGap;
  return {track, level, top, height, rows, rowHeight, folds, open};
}

// Ids of the tracks whose name has every word of the filter, with all around and inside of them,
// and of the one that is shown also.
function matching(tracks: readonly Track[], filter: string, also?: number): Set<number>|null {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const byId = new Map(tracks.map((track) => [track.id, track]));
  const wanted = new Set<number>();
  const pathOf = (track: Track): Track[] => {
    const path = [track];
    for (let at = byId.get(track.parent); at; at = byId.get(at.parent)) path.push(at);
    return path;
  };
  for (const track of tracks) {
    const path = pathOf(track);
    const text = path.map(({name}) => name).join(" ").toLowerCase();
    if (track.id === also || words.every((word) => text.includes(word)))
      path.forEach(({id}) => wanted.add(id));
  }
  return wanted;
}

// The first block that reaches below `y`.
export function blockAt(blocks: readonly Block[], y: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle].top + blocks[middle].height > y) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A row of a track on the screen.
export interface Lane {
  block: Block;
  depth: number;
  y: number;  // in the window
  height: number;
  top: number;  // what is above is hidden by pinned tracks
}

// The rows that are on the screen, from top to bottom; those of pinned tracks first.
export function lanesIn(layout: Layout, scroll: number, windowHeight: number): Lane[] {
  const lanes: Lane[] = [];
  for (const block of layout.pinned) addLanes(lanes, block, block.top, 0, windowHeight);
  const {blocks, pinnedHeight} = layout;
  for (let i = blockAt(blocks, scroll); i < blocks.length; ++i) {
    const y = pinnedHeight + blocks[i].top - scroll;
    if (y >= windowHeight) break;
    addLanes(lanes, blocks[i], y, pinnedHeight, windowHeight);
  }
  return lanes;
}

function addLanes(lanes: Lane[], block: Block, top: number, from: number, to: number): void {
  const {rows, rowHeight} = block;
  const first = Math.max(0, Math.floor((from - top) / rowHeight));
  for (let depth = first; depth < rows; ++depth) {
    const y = top + depth * rowHeight;
    if (y >= to) break;
    lanes.push({block, depth, y, height: rowHeight - 1, top: Math.max(y, from)});
  }
}
