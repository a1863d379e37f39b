// What the server and the page say to each other: docs/design/0016-timeline.md. Times are ns since
// the start of the recording.
import type {Column, Loss} from "../../data";

export type Ref = number;
export const kNoName = 0xffffffff;

export interface RunStatus {
  source: string;
  generation: number;
  ready: boolean;
  growing: boolean;
  progress: number;
  doing: string;
  error: string;
  changed?: ""|"replaced"|"removed";  // the file since it was read
  notes?: string;  // another one after its notes were written; "": there are none
}

export interface StatusAnswer {
  version: string;
  runs: RunStatus[];
}

export interface TableInfo {
  key: string;
  title: string;
  first_ref: number;
  rows: number;
}

export interface GroupInfo {
  id: number;
  parent: number;
  kind: string;
  title: string;
  rank: number;
}

export interface TrackInfo {
  id: number;
  group: number;
  kind: string;
  title: string;
  rows: number;
  events: number;
  from: number;
  to: number;
  palette: string;
  open: boolean;
  counter?: {unit: string; max: number};
  series?: string[];
}

export interface PaletteEntry {
  name: number;
  key: string;
  label: string;
  idle: boolean;
}

export interface StepsInfo {
  group: number;
  rank: number;
  marker: string;
  table: string;
  first_ref: number;
  count: number;
  number: number[];
  from: number[];
  to: number[];
  steady: number[];                         // places of those that count
  median: number;                           // of these, ns, as the summary says it
  outlier: number[];                        // places of those that count and took unusually long
  kinds: [first: number, label: string][];  // of the steps from that place on
  phases: {
    group: number;    // so many steps one after the other have one number
    names: number[];  // ids of the palette of phases, in its order; -1: other ranges, summed up
    us: number[][];   // of each phase its mean in each group
  };
}

export interface RunAnswer {
  generation: number;
  hash: string;
  source: string;
  title: string;
  format: string;
  start_utc_ns: string;
  from: number;
  to: number;
  duration?: number;  // of the recording, which goes on before and after what it holds
  failure?: string;   // "exit 1", "signal 9 (SIGKILL)"; "": it did not fail, or nobody knows
  events: number;     // that were recorded
  complete: boolean;
  growing: boolean;
  losses: Loss[];
  tables: TableInfo[];
  groups: GroupInfo[];
  tracks: TrackInfo[];
  palettes: Record<string, PaletteEntry[]>;
  steps: StepsInfo[];
  // What the file holds of a longer run.
  static?: {left_out: number; why: string; from: number; to: number};
}

export interface NamesAnswer {
  names: string[];
  labels?: Record<number, string>;  // by place in `names`: how to show those that are hard to read
}

export type RowRange = [track: number, firstRow: number, rowCount: number];

export interface ViewRequest {
  from: number;
  to: number;
  step: number;
  rows: RowRange[];
}

// An event as others speak of it.
export interface EventRef {
  ref: Ref;
  name: string;
  name_id: number;
  table: string;
  from: number;
  to: number;
  track: number|null;  // null: it has no place in the picture
  depth: number;
}

export interface LinkedEvent extends EventRef {
  kind: string;
  forward: boolean;  // from the event that was asked for to this one
}

export interface EventField {
  key: string;
  label: string;
  text: string;
  value: number|null;
  unit: ""|"ns"|"bytes";
  help?: string;
}

// How well a call is known that samples found.
export interface SampledCall {
  looks: number;    // that saw it
  apart: number;    // ns from one to the next
  line: number;     // that it was mostly in; 0: not known
  line_ns: number;  // of it
  steps: number;    // in which looks saw it; 0: it tells nothing of calls
}

// The line that it was mostly in during a part of its time.
export interface LineWithin {
  line: number;
  line_ns: number;
}

// What a thread did in a sampled call of Python, ns. Without knows_ready it is not told when it had
// no processor: that is in `waited`.
export interface ThreadTimes {
  ran: number;
  ready: number;
  gil: number;
  waited: number;
  knows_ready: boolean;
}

export interface EventAnswer extends EventRef {
  row: number;
  reading?: number;  // 1: the row is of what is new of a run that goes on
  title: string;
  open: boolean;
  step?: {number: number; from: number; to: number}|null;
  fields: EventField[];
  waited_for?: number[]|null;  // tracks of the thread that an idle time of a GPU waited for
  parents: Omit<EventRef, "track"|"depth">[];
  children?: {count: number; busy: number; self: number};
  links: LinkedEvent[];
  sampled?: SampledCall|null;
  line_within?: LineWithin|null;  // of a sampled call, where a part of its time was asked for
  did?: ThreadTimes|null;
  same_name?: {
    count: number; total: number;  // a call within another of its name is part of that one's time
    lengths: number;               // of all of them
    longest: number;
    longest_ref: Ref;
    rank: number
  };
}

export interface LinkEnd {
  ref: Ref;
  track: number|null;
  depth: number;
  at: number;
}

export interface Link {
  kind: string;
  from: LinkEnd;
  to: LinkEnd;
}

export interface Match {
  name: number;
  text: string;
  count: number;
  total: number;
  longest: number;
  longest_ref: Ref;
  table: string;
}

// The longest gap before the steps, in warm-up, later among the steps, or after them.
export interface GapElsewhere {
  event: EventRef;
  where: string;
}

export interface LongestAnswer {
  event: EventRef|null;
  count: number;
  // Of gaps within the steps that count: how many steps these are (0: none is known, and the whole
  // run was searched), and longer gaps elsewhere.
  steps?: number;
  outside?: GapElsewhere[];
}

export interface FindAnswer {
  matches: Match[];
  more: boolean;
  events: number;
  total: number;
  near?: string;  // where nothing was found: "; did you mean linear?"
}

export interface RangeTable {
  key: string;
  title: string;
  columns: Column[];
  rows: (string|number|null)[][];
  total_rows?: number;  // where there are more than these
}

export interface RangeAnswer {
  from: number;
  to: number;
  whole_steps: boolean;
  first_step?: number;
  last_step?: number;
  processes?: {first_step: number; last_step: number}[];  // of a stretch of time
  notes: string[];
  tables: RangeTable[];
}

export interface CompareAnswer {
  tables: RangeTable[];
  steps: {a: number; b: number}[];
  commands: string[];  // what was started; "": not known
  problem?: string;    // why the tables are of whole runs, not of steps; "": they are of steps
}

export interface Note {
  id: string;
  from: number;
  to: number;
  text: string;
  color?: string;
  track?: number;
  table?: string;
  row?: number;
  pinned?: boolean;
}

export interface NotesAnswer {
  notes: Note[];
  hash: string;
  writable: boolean;
}

// Where a name has a text; ASCII case does not count. What a search means more comes first.
export enum TextAt {
  whole,
  begin,
  within
}

// One of a name, a text in names, or a kind ("gap"). Idle time that a gap and its causes both tell
// is the causes' unless the table is that of the gaps.
export interface Wanted {
  name?: number;
  text?: string;
  kind?: "gap";
  called?: 1;  // with `text`: what is called just so comes first, and other names only if none is
  text_at?: TextAt;  // with `text`: only names that have it there
  within?: "steps";  // of `longest`: those that begin in a step that counts
  table?: string;
  least?: number;
}
