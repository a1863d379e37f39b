// Ways from the report into its timeline (web/src/timeline/state/url_state.ts reads them). Without
// a timeline there are none.
import type {PageData, TableData} from "./data";
import {h, prose} from "./dom";
import {cellsOf} from "./table_sums";

export type Place = {
  step: number
}|{find: string}|{
  from: number;
  to: number
};

// Of the report's address, before the place in the timeline.
export const kTimelinePrefix = "timeline&";

const kMostLetters = 200;  // of a name; the timeline itself cuts long ones later
const kRoom = 0.5;         // shown on each side of a stretch of time, of its length

export function timelineFragment(place: Place): string {
  if ("step" in place) return `step=${place.step}`;
  if ("find" in place) return `find=${encodeURIComponent(place.find.slice(0, kMostLetters))}`;
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

// Columns of tables that say which events a row is about.
const kNames = ["name", "module", "range", "call"];
const kNotNames = ["processes", "attribution"];  // tables whose names are of something else

// Names of rows that stand for several.
const kSeveral = ["(smaller ones)", "(others)", "(no recorded event)"];

// The link of a row of a table; none for rows that are no events.
export function rowLink(page: PageData): (table: TableData, row: number) => HTMLElement | null {
  return (table, row) => {
    if (!page.timeline || kNotNames.includes(table.key)) return null;
    const step = cellsOf(table, "step")[row];
    if (typeof step === "number") return timelineLink(page, {step}, `step ${step}`);
    const key = kNames.find((one) => cellsOf(table, one).length > 0);
    const id = key === undefined ? null : cellsOf(table, key)[row];
    const name = id === null ? null : page.strings[id];
    if (name === null || kSeveral.includes(name)) return null;
    return timelineLink(page, {find: name}, name);
  };
}
