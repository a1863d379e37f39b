// The edge of an event near a time: ends of a drag stick to it.
import type {Items} from "../data/items";
import {endOf, firstEndingAfter, startOf} from "../data/items";

export function snapped(items: Items, time: number, reach: number): number {
  const next = firstEndingAfter(items, time);
  let best = time;
  let least = reach;
  for (let i = Math.max(0, next - 1); i <= Math.min(items.count - 1, next + 1); ++i) {
    for (const edge of [startOf(items, i), endOf(items, i)]) {
      if (Math.abs(edge - time) > least) continue;
      least = Math.abs(edge - time);
      best = edge;
    }
  }
  return best;
}
