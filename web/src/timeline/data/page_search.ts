// Find, next, longest and density over the events of a static page, by a scan.
import {rowKey} from "./answer";
import {nearNamesText} from "./near_names";
import {nests, OpenTime} from "./open_time";
import type {PageEvents} from "./page_events";
import type {EventAnswer, EventRef, FindAnswer, GapElsewhere, LongestAnswer, Match, RunAnswer, StepsInfo, Wanted} from "./protocol";
import {TextAt} from "./protocol";
import {firstEnding, groupsAround, stepsOf} from "./steps";
import type {RowEvents} from "./view_query";
import {beginsWithin, firstTouching} from "./view_query";

interface Place {
  track: number;
  depth: number;
  row: RowEvents;
  nests: boolean;  // a call may lie within one of a row above
}

// What is looked for, by name if these are not those that contain its text.
interface Scanned extends Wanted {
  matches?: (name: string) => boolean;
}

const kUsual = 100;
const kGaps = "gpu_idle";
const kCauses = "gpu_idle_causes";

// The place of the step that a time lies in; -1: none.
function placeOfStep({from, to}: StepsInfo, time: number): number {
  const i = firstEnding(to, time);
  return i < from.length && from[i] <= time ? i : -1;
}

// Before the steps, among those before the first that counts, later among them, or after them.
function partOf({from, to, steady}: StepsInfo, time: number): number {
  if (from.length === 0 || time < from[0]) return 0;
  if (time >= to[to.length - 1]) return 3;
  return steady.length === 0 || time < from[steady[0]] ? 1 : 2;
}

function whereIs(steps: StepsInfo, time: number): string {
  return [
    "before the first step", "between two steps", "between two steps", "after the last step"
  ][partOf(steps, time)];
}

// -1: nowhere.
export function placeOfText(name: string, text: string): TextAt|- 1 {
  const at = name.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return -1;
  if (at > 0) return TextAt.within;
  return name.length === text.length ? TextAt.whole : TextAt.begin;
}

// What an event adds to the time of its name.
function timeOf({track, depth, row, nests: nested}: Place, i: number, open: OpenTime): number {
  return nested ? open.add(track, depth, row.start[i], row.end[i]) : row.end[i] - row.start[i];
}

export class PageSearch {
  private readonly places: Place[];
  private readonly idle:
    ReadonlySet<number>;  // tracks with the gaps of a GPU, and below them causes
  private readonly byPlace: ReadonlyMap<string, RowEvents>;

  constructor(private readonly run: RunAnswer, events: PageEvents,
    private readonly nameOf: (id: number) => string) {
    this.byPlace = events.rows;
    const nesting = new Set(run.tracks.filter(({kind}) => nests(kind)).map(({id}) => id));
    this.places = [...events.rows]
                    .map(([key, row]) => {
                      const [track, depth] = key.split(":").map(Number);
                      return {track, depth, row, nests: nesting.has(track)};
                    })
                    .sort((a, b) => a.track - b.track || a.depth - b.depth);
    this.idle = new Set(run.tracks.filter(({kind}) => kind === "idle").map(({id}) => id));
  }

  private tableKey(ref: number): string {
    return this.run.tables.find(({first_ref, rows}) => first_ref <= ref && ref < first_ref + rows)
             ?.key ??
      "";
  }

  private at({track, depth, row}: Place, i: number): EventRef {
    const ref = row.ref[i];
    return {
      ref,
      name: this.nameOf(row.name[i]),
      name_id: row.name[i],
      table: this.tableKey(ref),
      from: row.start[i],
      to: row.end[i],
      track,
      depth,
    };
  }

  // Whether the causes of a gap are events of their own, which tell its time once more.
  private hasParts({track, depth, row}: Place, i: number): boolean {
    const parts = depth === 0 && this.idle.has(track) ? this.byPlace.get(rowKey(track, 1)) : null;
    return parts ? beginsWithin(parts, row.start[i], row.end[i]) : false;
  }

  // The table that an event counts in: a gap of one cause among the causes.
  private countedAs(ref: number): string {
    const key = this.tableKey(ref);
    return key === kGaps ? kCauses : key;
  }

  // Calls `visit` for every event that is wanted.
  private scan(wanted: Scanned&{track?: number}, visit: (place: Place, i: number) => void): void {
    const {name, kind, least = 0, track} = wanted;
    const table = kind === "gap" ? kGaps : wanted.table;
    const isOf = (place: Place, i: number): boolean => {
      if (table === kGaps) return true;  // its places are told above
      if (table !== undefined && this.countedAs(place.row.ref[i]) !== table) return false;
      return !this.hasParts(place, i);
    };
    const text = (wanted.text ?? "").toLowerCase();
    const {matches = (one: string) => one.toLowerCase().includes(text)} = wanted;
    const verdicts = new Map<number, boolean>();
    const named = (id: number): boolean => {
      let verdict = verdicts.get(id);
      if (verdict === undefined) {
        verdict = name === undefined ? matches(this.nameOf(id)) : id === name;
        verdicts.set(id, verdict);
      }
      return verdict;
    };
    for (const place of this.places) {
      const gaps = this.idle.has(place.track) && place.depth === 0;
      if (table === kGaps && !gaps) continue;
      if (track !== undefined && track !== place.track) continue;
      const {row} = place;
      for (let i = 0; i < row.start.length; ++i) {
        const any = kind === "gap" && name === undefined;
        if (kind === "gap" && row.end[i] - row.start[i] < least) continue;
        if ((any || named(row.name[i])) && isOf(place, i)) visit(place, i);
      }
    }
  }

  // Of a text that something is called: which names are meant. It alone, or it but for case, or
  // those that begin with it, where an event has such a name; else all that contain it.
  private meant(wanted: Wanted): Scanned {
    const {called, text = "", text_at: place} = wanted;
    const at = (one: TextAt) => (name: string) => placeOfText(name, text) === one;
    if (place !== undefined) return {...wanted, matches: at(place)};
    if (!called) return wanted;
    const same = (name: string): boolean => name === text;
    const matches = [same, at(TextAt.whole), at(TextAt.begin)];
    // Of a gap and its causes, which share names, the gap is what is seen.
    const gaps = {...wanted, matches: same, table: kGaps};
    if (wanted.table === undefined && this.hasAny(gaps)) return gaps;
    return {...wanted, matches: matches.find((one) => this.hasAny({...wanted, matches: one}))};
  }

  private hasAny(wanted: Scanned): boolean {
    let any = false;
    this.scan(wanted, () => any = true);
    return any;
  }

  private byTime(): string[] {
    return this.find({text: "", limit: Infinity}).matches.map(({text}) => text);
  }

  find({text, limit = kUsual}: {text: string; limit?: number}): FindAnswer {
    const matches = new Map<string, Match>();
    const open = new Map<Match, OpenTime>();
    this.scan({text}, (place, i) => {
      const {row} = place;
      const id = row.name[i];
      const length = row.end[i] - row.start[i];
      const table = this.countedAs(row.ref[i]);
      const key = `${id} ${table}`;
      let match = matches.get(key);
      if (!match) {
        const name = this.nameOf(id);
        match = {name: id, text: name, count: 0, total: 0, longest: -1, longest_ref: 0, table};
        matches.set(key, match);
        open.set(match, new OpenTime());
      }
      ++match.count;
      match.total += timeOf(place, i, open.get(match)!);
      if (length > match.longest) [match.longest, match.longest_ref] = [length, row.ref[i]];
    });
    const place = ({text: name}: Match): number => placeOfText(name, text);
    const all = [...matches.values()].sort((a, b) => place(a) - place(b) || b.total - a.total);
    return {
      near: all.length === 0 && text !== "" ? nearNamesText(this.byTime(), text) : "",
      matches: all.slice(0, limit),
      more: all.length > limit,
      events: all.reduce((sum, {count}) => sum + count, 0),
      total: all.reduce((sum, {total}) => sum + total, 0),
    };
  }

  next(asked: Wanted&{
    at: number;
    direction: number;
    track?: number
  }): {event: EventRef|null} {
    let best: EventRef|null = null;
    const at = Number(asked.at);
    this.scan(this.meant(asked), (place, i) => {
      const start = place.row.start[i];
      if (asked.direction > 0 ? start > at && (!best || start < best.from)
                              : start < at && (!best || start > best.from))
        best = this.at(place, i);
    });
    return {event: best};
  }

  // The steps of the process that a track is of, else of the first one; undefined: none is known.
  // null: it is of a rank without steps, as those of one rank were asked for (--rank).
  private stepsBeside(track: number): StepsInfo|undefined|null {
    const {groups, steps: [main], tracks} = this.run;
    const group = tracks.find(({id}) => id === track)?.group ?? -1;
    const own = stepsOf(this.run, group);
    if (own || !main || main.rank < 0) return own ?? main;
    const ranks =
      groupsAround(groups, group).map((id) => groups.find((one) => one.id === id)?.rank ?? -1);
    const rank = ranks.find((one) => one >= 0) ?? main.rank;
    return rank === main.rank ? main : null;
  }

  // The name of a step's event is its kind: "in step 0 (warm-up)".
  private inStep({number, first_ref}: StepsInfo, place: number): string {
    const kind = this.byRef(first_ref + place)?.name;
    return `in step ${number[place]} (${kind || "not counted"})`;
  }

  private longestGap(nth: number): LongestAnswer {
    const {steps} = this.run;
    const inside: EventRef[] = [];
    const outside: (GapElsewhere|undefined)[] = [undefined, undefined, undefined, undefined];
    const length = ({from, to}: EventRef): number => to - from;
    const steady = new Map(steps.map((one) => [one, new Set(one.steady)]));
    const beside = new Map([...this.idle].map((track) => [track, this.stepsBeside(track)]));
    this.scan({kind: "gap"}, (place, i) => {
      const own = beside.get(place.track);
      if (own === null) return;
      const gap = this.at(place, i);
      const step = own ? placeOfStep(own, gap.from) : -1;
      if (!own || steady.get(own)!.has(step)) inside.push(gap);
      else {
        const part = partOf(own, gap.from);
        const most = outside[part];
        if (!most || length(gap) > length(most.event))
          outside[part] = {
            event: gap,
            where: step >= 0 ? this.inStep(own, step) : whereIs(own, gap.from)
          };
      }
    });
    inside.sort((a, b) => length(b) - length(a));
    const longest = inside.length > 0 ? length(inside[0]) : -1;
    return {
      event: inside[nth] ?? null,
      count: inside.length,
      steps: steps.reduce((sum, one) => sum + one.steady.length, 0),
      outside: outside.filter(
        (one): one is GapElsewhere => one !== undefined && length(one.event) > longest),
    };
  }

  // Of the first training process.
  private inCountedStep(): (time: number) => boolean {
    const [steps] = this.run.steps;
    const steady = new Set(steps?.steady);
    return (time) => steps !== undefined && steady.has(placeOfStep(steps, time));
  }

  longest(asked: Wanted&{
    nth: number;
    from?: number;
    to?: number
  }): LongestAnswer {
    if (asked.kind === "gap" && asked.within === "steps") return this.longestGap(asked.nth);
    const found: [number, Place, number][] = [];
    const [from, to] = [Number(asked.from ?? -Infinity), Number(asked.to ?? Infinity)];
    const counts = asked.within === "steps" ? this.inCountedStep() : () => true;
    this.scan(this.meant(asked), (place, i) => {
      const {start, end} = place.row;
      if (start[i] >= from && start[i] < to && counts(start[i]))
        found.push([end[i] - start[i], place, i]);
    });
    found.sort((a, b) => b[0] - a[0]);
    const one = found[asked.nth];
    return {event: one ? this.at(one[1], one[2]) : null, count: found.length};
  }

  density(asked: Wanted&{
    from: number;
    to: number;
    bins: number
  }): {bins: number[]; most: number} {
    const bins = new Array<number>(asked.bins).fill(0);
    const [from, to] = [Number(asked.from), Number(asked.to)];
    this.scan(asked, ({row}, i) => {
      const bin = Math.floor(((row.start[i] - from) / (to - from)) * asked.bins);
      if (bin >= 0 && bin < asked.bins) ++bins[bin];
    });
    return {bins, most: bins.reduce((most, count) => Math.max(most, count), 0)};
  }

  byRef(ref: number): EventRef|null {
    for (const place of this.places) {
      const i = place.row.ref.indexOf(ref);
      if (i >= 0) return this.at(place, i);
    }
    return null;
  }

  times(refs: readonly number[]): {times: ([number, number]|null)[]} {
    const found = new Map<number, [number, number]|null>(refs.map((ref) => [ref, null]));
    for (const {row} of this.places) {
      for (let i = 0; i < row.ref.length; ++i)
        if (found.has(row.ref[i])) found.set(row.ref[i], [row.start[i], row.end[i]]);
    }
    return {times: refs.map((ref) => found.get(ref)!)};
  }

  // Whether it had no end when the recording ended.
  isOpen({track, depth, ref}: EventRef): boolean {
    const row = this.byPlace.get(rowKey(track!, depth));
    return row !== undefined && row.open.has(row.ref.indexOf(ref));
  }

  // What the row below holds within the event. undefined: a part of it is not in the file.
  children({track, depth, from, to}: EventRef): EventAnswer["children"] {
    const {static: held} = this.run;
    if (held && held.left_out > 0 && (from < held.from || to > held.to)) return undefined;
    const below = this.byPlace.get(rowKey(track!, depth + 1));
    let [count, busy] = [0, 0];
    for (let i = below ? firstTouching(below, from) : 0;
         below && i < below.start.length && below.start[i] < to; ++i) {
      if (below.start[i] < from) continue;
      ++count;
      busy += Math.min(to, below.end[i]) - below.start[i];
    }
    return {count, busy, self: to - from - busy};
  }

  // The events around one, in the rows above it; outermost last.
  parents(event: EventRef): EventAnswer["parents"] {
    return this.places.filter(({track, depth}) => track === event.track && depth < event.depth)
      .sort((a, b) => b.depth - a.depth)
      .flatMap((place) => {
        const i = firstTouching(place.row, event.from);
        return i < place.row.start.length && place.row.start[i] <= event.from &&
            place.row.end[i] >= event.to
          ? [this.at(place, i)]
          : [];
      });
  }

  sameName(event: EventRef): EventAnswer["same_name"] {
    const length = event.to - event.from;
    const found = {count: 0, total: 0, lengths: 0, longest: -1, longest_ref: 0, rank: 1};
    const open = new OpenTime();
    this.scan({name: event.name_id, table: event.table}, (place, i) => {
      const {row} = place;
      const other = row.end[i] - row.start[i];
      ++found.count;
      found.total += timeOf(place, i, open);
      found.lengths += other;
      if (other > length || (other === length && row.ref[i] < event.ref)) ++found.rank;
      if (other > found.longest) [found.longest, found.longest_ref] = [other, row.ref[i]];
    });
    return found;
  }
}
