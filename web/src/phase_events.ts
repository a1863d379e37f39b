// The events behind a phase, for the steps that count or for those that the reader selects.
import type {EventList, Steps} from "./data";
import type {Range} from "./selection";
import {binsOf, coarseness} from "./tree";

export interface PhaseEvent {
  row: number;  // of EventList
  per_step_ns: number;
  count: number;  // per step
  share: number;  // of the phase, 0 to 1
}

export interface PhaseEventSums {
  events: PhaseEvent[];  // by falling time
  steps: number;         // that the means are over
  coarse: number;  // steps of the longest group that the selection only partly covers; 0: none
}

export function eventsOf(steps: Steps, phase: number, range: Range|null): PhaseEventSums {
  const {events} = steps;
  if (!events) return {events: [], steps: 0, coarse: 0};
  const list = events.lists[phase];
  if (!range) {
    return {
      ...sums(list, steps.summary.count, (row) => [list.total_ns[row], list.count[row]]),
      coarse: 0
    };
  }
  const selected = {first: range.first * steps.group, last: (range.last + 1) * steps.group - 1};
  const chosen = binsOf(events, selected);
  const count = chosen.reduce((sum, bin) => sum + events.bins.steps[bin], 0);
  const inBins = sums(list, count, (row) => {
    const counts = list.bin_count[row];
    const of = (bin: number): number =>
      (typeof counts === "number" ? counts * events.bins.steps[bin] : counts[bin]);
    return [
      chosen.reduce((sum, bin) => sum + list.bin_ns[row][bin], 0),
      chosen.reduce((sum, bin) => sum + of(bin), 0),
    ];
  });
  return {...inBins, coarse: coarseness(events, selected, steps.count)};
}

function sums(list: EventList, steps: number,
  value: (row: number) => [number, number]): Omit<PhaseEventSums, "coarse"> {
  const rows = list.name.map((_, row) => [row, ...value(row)] as const).filter(([, ns]) => ns > 0);
  const total = rows.reduce((sum, [, ns]) => sum + ns, 0);
  const events = rows.map(([row, ns, count]) => ({
    row,
    per_step_ns: ns / (steps || 1),
    count: count / (steps || 1),
    share: ns / (total || 1),
  }));
  const put = list.left_out > 0 ? list.name.length - 1 : -1;  // the rest, put together, comes last
  events.sort(
    (a, b) => Number(a.row === put) - Number(b.row === put) || b.per_step_ns - a.per_step_ns);
  return {events, steps};
}
