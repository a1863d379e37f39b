// Which events make an item: the server's rule (docs/design/0016-timeline.md) for a page that has
// the events itself. An event at least as long as a step is an item; shorter ones are put together
// with the neighbours that begin within a step of the first of them.
import type {Items} from "./items";
import {kBeginsBefore, kEndsAfter, kStillOpen} from "./items";

// The events of a row, by start.
export interface RowEvents {
  start: Float64Array;  // ns
  end: Float64Array;
  ref: Uint32Array;
  name: Uint32Array;
  open: ReadonlySet<number>;  // places of events without an end
}

class ItemList {
  readonly start: number[] = [];
  readonly width: number[] = [];
  readonly ref: number[] = [];
  readonly name: number[] = [];
  readonly merged: number[] = [];
  readonly busy: number[] = [];
  readonly flags: number[] = [];

  constructor(private readonly row: RowEvents, private readonly from: number,
    private readonly to: number, private readonly step: number) {}

  // Events [first, end) as one item.
  add(first: number, end: number): void {
    const {row, from, to, step} = this;
    let [longest, busyNs] = [first, 0];
    for (let i = first; i < end; ++i) {
      busyNs += row.end[i] - row.start[i];
      if (row.end[i] - row.start[i] > row.end[longest] - row.start[longest]) longest = i;
    }
    const begin = row.start[first];
    const until = row.end[end - 1];
    const start = begin <= from ? 0 : Math.floor((begin - from) / step);
    this.start.push(start);
    this.width.push(Math.max(0, Math.floor((Math.min(until, to) - from) / step) - start));
    this.ref.push(row.ref[longest]);
    this.name.push(row.name[longest]);
    this.merged.push(end - first);
    const share = until > begin ? busyNs / (until - begin) : 1;
    this.busy.push(end - first === 1 ? 255 : Math.min(255, Math.floor(share * 255)));
    let open = false;
    if (row.open.size > 0)
      for (let i = first; i < end; ++i) open = open || row.open.has(i);
    this.flags.push(
      (begin < from ? kBeginsBefore : 0) | (until > to ? kEndsAfter : 0) | (open ? kStillOpen : 0));
  }

  items(): Items {
    const {from, step} = this;
    return {
      from,
      step,
      count: this.start.length,
      start: Uint32Array.from(this.start),
      width: Uint32Array.from(this.width),
      ref: Uint32Array.from(this.ref),
      name: Uint32Array.from(this.name),
      merged: Uint32Array.from(this.merged),
      busy: Uint8Array.from(this.busy),
      flags: Uint8Array.from(this.flags),
    };
  }
}

export function itemsIn(row: RowEvents, from: number, to: number, step: number): Items {
  const list = new ItemList(row, from, to, step);
  const {start, end} = row;
  let i = firstTouching(row, from);
  while (i < start.length && start[i] < to) {
    const first = i++;
    if (end[first] - start[first] < step) {
      const limit = start[first] + step;
      while (i < start.length && start[i] < Math.min(limit, to) && end[i] - start[i] < step) ++i;
    }
    list.add(first, i);
  }
  return list.items();
}

// The first event that ends after `time` or begins at it.
export function firstTouching({start, end}: RowEvents, time: number): number {
  let low = 0;
  let high = start.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle] > time || start[middle] >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Whether an event of the row begins in [from, to).
export function beginsWithin(row: RowEvents, from: number, to: number): boolean {
  for (let at = firstTouching(row, from); at < row.start.length && row.start[at] < to; ++at) {
    if (row.start[at] >= from) return true;
  }
  return false;
}
