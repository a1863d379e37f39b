// Sums of a stretch of time over the events of a static page: what times and names tell. The
// report's own analyses need the recording.
import type {Column} from "../../data";
import {rowKey} from "./answer";
import {nests, OpenTime} from "./open_time";
import type {PageEvents} from "./page_events";
import type {RangeAnswer, RangeTable, RunAnswer, TrackInfo} from "./protocol";
import {heldSteps} from "../state/held";
import {beginsWithin, firstTouching} from "./view_query";

interface Sum {
  name: string;
  count: number;
  total: number;
  longest: number;
  open: OpenTime;
}

const kColumns: Column[] = [
  {key: "name", name: "Name", type: "text"},
  {key: "count", name: "Events", help: "Events that touch the range."},
  {
    key: "total",
    name: "Time",
    unit: "ns",
    help: "Their time within the range. A call within another of its name counts once."
  },
  {key: "longest", name: "Longest", unit: "ns", help: "Of one event within the range."},
];

const kTitles: Record<string, string> = {
  phases: "Phases of the steps",
  idle: "Idle GPU by cause",
  stream: "Work on the GPU",
  thread: "Calls on the CPU",
  collectives: "Collectives",
  python: "Python functions, sampled",
};

export function pageRange(
  run: RunAnswer, events: PageEvents, nameOf: (id: number) => string, asked: {
    from?: number|string;
    to?: number | string;
    first_step?: number;
    last_step?: number;
    process?: number
  }): RangeAnswer {
  const span = spanOf(run, asked);
  const tables: RangeTable[] = Object.entries(kTitles).flatMap(([kind, title]) => {
    const rows = sums(run.tracks.filter((track) => track.kind === kind), events, nameOf, span);
    if (rows.length === 0) return [];
    return [{
      key: kind,
      title,
      columns: kColumns,
      rows: rows.map(({name, count, total, longest}) => [name, count, total, longest])
    }];
  });
  return {
    ...span,
    whole_steps: asked.first_step !== undefined,
    first_step: asked.first_step,
    last_step: asked.last_step,
    notes: [`Sums of the events in this file. batchlight view ${
      run.source} shows the tables of the report for a range.`],
    tables,
  };
}

function spanOf(run: RunAnswer, asked: {
  from?: number|string;
  to?: number | string;
  first_step?: number;
  last_step?: number;
  process?: number
}) {
  if (asked.from !== undefined) return {from: Number(asked.from), to: Number(asked.to)};
  const steps = run.steps[asked.process ?? 0];
  const first = asked.first_step ?? 0;
  const held = heldSteps(run, asked.process);  // nothing of a step that is there in part
  return {
    from: steps.from[Math.max(steps.number.indexOf(first), held.first)],
    to: steps.to[Math.min(steps.number.indexOf(asked.last_step ?? first), held.behind - 1)],
  };
}

function sums(tracks: TrackInfo[], events: PageEvents, nameOf: (id: number) => string,
  {from, to}: {from: number; to: number}): Sum[] {
  const found = new Map<number, Sum>();
  for (const {id, rows, kind} of tracks) {
    for (let row = 0; row < rows; ++row) {
      const one = events.rows.get(rowKey(id, row));
      if (!one) continue;
      const causes = kind === "idle" && row === 0 ? events.rows.get(rowKey(id, 1)) : undefined;
      for (let i = firstTouching(one, from); i < one.start.length && one.start[i] < to; ++i) {
        // Its causes, where these are events of their own, tell a gap's time.
        if (causes && beginsWithin(causes, one.start[i], one.end[i])) continue;
        const [start, end] = [Math.max(one.start[i], from), Math.min(one.end[i], to)];
        const length = end - start;
        const name = one.name[i];
        let sum = found.get(name);
        if (!sum) {
          sum = {name: nameOf(name), count: 0, total: 0, longest: 0, open: new OpenTime()};
          found.set(name, sum);
        }
        ++sum.count;
        sum.total += nests(kind) ? sum.open.add(id, row, start, end) : length;
        sum.longest = Math.max(sum.longest, length);
      }
    }
  }
  return [...found.values()].sort((a, b) => b.total - a.total);
}
