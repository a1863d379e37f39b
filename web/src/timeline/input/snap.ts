// The edge of an event near a time: ends of a drag stick to it.
import type {Items} from "../data/items";
import {endOf, firstEndingAfter, startOf} from "../data/items";
import type {Ref} from "../data/protocol";

// Items stand at steps of the picture; the event tells the edge to the nanosecond.
export interface Edge {
  time: number;
  of: {ref: Ref; end: boolean}|null;  // null: it sticks to nothing
}

export function snapped(items: Items, time: number, reach: number): Edge {
  const next = firstEndingAfter(items, time);
  let best: Edge = {time, of: null};
  let least = reach;
  for (let i = Math.max(0, next - 1); i <= Math.min(items.count - 1, next + 1); ++i) {
    for (const end of [false, true]) {
      const edge = end ? endOf(items, i) : startOf(items, i);
      if (Math.abs(edge - time) > least) continue;
      least = Math.abs(edge - time);
      best = {time: edge, of: {ref: items.ref[i], end}};
    }
  }
  return best;
}
