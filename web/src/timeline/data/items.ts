// The events of one row as an answer has them, column-wise and by start. An item stands for one
// event, or for a run of events that are too short to be told apart at this step.

export interface Items {
  from: number;  // ns; start and width are in steps from here
  step: number;  // ns
  count: number;
  start: Uint32Array;
  width: Uint32Array;
  ref: Uint32Array;     // the event, of a run its longest
  name: Uint32Array;    // id of its name
  merged: Uint32Array;  // events in it
  busy: Uint8Array;     // share of its width in which something runs, of 255
  flags: Uint8Array;
}

// Samples of a counter, column-wise: the least, greatest and last value in each stretch. NaN: not
// known.
export interface Samples {
  from: number;
  step: number;
  count: number;
  start: Uint32Array;
  least: Float64Array;
  most: Float64Array;
  last: Float64Array;
}

// Of a value that may not be known, and another one.
export function lower(a: number, b: number): number {
  return a < b || b !== b ? a : b;
}

export function higher(a: number, b: number): number {
  return a > b || b !== b ? a : b;
}

export const kBeginsBefore = 1;  // flags: before the answer begins
export const kEndsAfter = 2;
export const kStillOpen = 4;  // had no end when the recording ended

export const kNoItems: Items = {
  from: 0,
  step: 1,
  count: 0,
  start: new Uint32Array(0),
  width: new Uint32Array(0),
  ref: new Uint32Array(0),
  name: new Uint32Array(0),
  merged: new Uint32Array(0),
  busy: new Uint8Array(0),
  flags: new Uint8Array(0),
};

export function startOf(items: Items, i: number): number {
  return items.from + items.start[i] * items.step;
}

export function endOf(items: Items, i: number): number {
  return items.from + (items.start[i] + items.width[i]) * items.step;
}

// The first item that ends after `time`: items of a row do not overlap, so their ends ascend too.
export function firstEndingAfter(items: Items, time: number): number {
  let low = 0;
  let high = items.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(items, middle) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The item at a time, or the nearest within `reach` ns; -1: none.
export function itemAt(items: Items, time: number, reach: number): number {
  const next = firstEndingAfter(items, time);
  if (next < items.count && startOf(items, next) <= time) return next;
  const after = next < items.count ? startOf(items, next) - time : Infinity;
  const before = next > 0 ? time - endOf(items, next - 1) : Infinity;
  if (Math.min(after, before) > reach) return -1;
  return after < before ? next : next - 1;
}
