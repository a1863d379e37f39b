// Ways from the report into its timeline (web/src/timeline/state/url_state.ts reads them). Without
// a timeline there are none.
import type {NamedEvents, PageData, Place, TableData} from "./data";
import {h, prose} from "./dom";
import {cellsOf} from "./table_sums";

export type{Place} from "./data";

// Of the report's address, before the place in the timeline.
export const kTimelinePrefix = "timeline&";

const kMostLetters = 300;  // of a name: of longer ones those are found that begin so
const kCut = "…";          // in the page's names: what was in the middle is left out
const kRoom = 0.5;         // shown on each side of a stretch of time, of its length

export function timelineFragment(place: Place): string {
  if ("step" in place) return `step=${place.step}`;
  if ("at" in place) return `at=${Math.round(place.at)}`;
  if ("find" in place) {
    const find = encodeURIComponent(place.find.slice(0, kMostLetters));
    return place.table ? `find=${find}&table=${place.table}` : `find=${find}`;
  }
  const room = Math.max(1000, kRoom * (place.to - place.from));
  const [from, to] = [Math.max(0, place.from - room), place.to + room].map(Math.round);
  return `from=${from}&to=${to}&range=${Math.round(place.from)}-${Math.round(place.to)}`;
}

// With `words` it says so by itself; else it is a sign beside what it leads to.
export function timelineLink(
  {timeline}: PageData, place: Place, of: string, words = ""): HTMLElement|null {
  if (!timeline) return null;
  const says = `Show ${of} in the timeline`;
  return h("a", {
    class: "to-timeline",
    href: `#${kTimelinePrefix}${timelineFragment(place)}`,
    ...(words === "" ? {title: says, "aria-label": says} : {}),
  },
    ...prose(words));
}

// The way from a row of a table; none for rows that are no events.
export function rowLink(page: PageData): (table: TableData, row: number) => HTMLElement | null {
  return (table, row) => {
    if (!page.timeline) return null;
    const found = placeOfRow(page, table, row);
    return found && timelineLink(page, found.place, found.of);
  };
}

interface RowPlace {
  place: Place;
  of: string;  // in words
}

export function placeOfRow(page: PageData, table: TableData, row: number): RowPlace|null {
  const step = numberIn(table, "step", row);
  if (step !== null) return {place: {step}, of: `step ${step}`};
  const {events} = table;
  if (events && "names" in events) return namedPlace(page, events, row);
  const [start, length] = events
    ? [events.from[row], events.to[row] - events.from[row]]
    : [numberIn(table, "longest_start", row), numberIn(table, "longest", row)];
  if (start !== null && length !== null)
    return length > 0 ? {place: {from: start, to: start + length}, of: "the longest"} : null;
  const moment = kMoments[table.key];
  const at = moment === undefined ? null : numberIn(table, moment, row);
  if (at !== null) return {place: {at}, of: "this moment"};
  return partPlace(page, table, row);
}

// Columns that say when a row was, of tables of what has no length.
const kMoments: Record<string, string> = {
  nvtx_marks: "start",
  memory_timeline: "time"
};

function numberIn(table: TableData, key: string, row: number): number|null {
  return cellsOf(table, key)[row] ?? null;
}

function namedPlace({strings}: PageData, {table, names}: NamedEvents, row: number): RowPlace|null {
  const id = names[row];
  if (id === null || id === undefined) return null;
  const of = strings[id];
  const [find] = of.split(kCut);  // of a long name what stands before
  return {place: table ? {find, table} : {find}, of};
}

// What a step is made of, on the CPU or a GPU: the longest event behind a part of it.
function partPlace(page: PageData, table: TableData, row: number): RowPlace|null {
  const key = kParts[table.key];
  const id = key === undefined ? null : numberIn(table, key, row);
  const device = numberIn(table, "device", row);
  const label = id === null ? null : page.strings[id];
  const pid = numberIn(table, "pid", row);
  const track = page.training.find((one) => one.pid === pid)
                  ?.tracks.find((one) => one.track === (device === null ? "CPU" : `GPU ${device}`));
  const list = track?.events?.lists[track.phases.findIndex((one) => one.label === label)];
  if (!list || label === null) return null;
  const longest = Math.max(...list.longest_ns.filter((_, i) => list.longest_step[i] >= 0));
  const at = list.longest_ns.indexOf(longest);
  if (at < 0) return null;
  const from = list.longest_start_ns[at];
  return {place: {from, to: from + longest}, of: `the longest of ${label}`};
}

const kParts: Record<string, string> = {
  phases: "phase",
  gpu_parts: "part"
};
