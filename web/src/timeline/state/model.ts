// What the timeline shows: the runs, the stretch of time, what is folded, pinned and selected.
// Views draw themselves anew when it changes.
import type {Sample} from "../data/counter";
import type {Names} from "../data/names";
import type {OwnTimes} from "../data/own_times";
import type {EventAnswer, EventRef, Link, LongestAnswer, Note, PaletteEntry, Ref, RunAnswer, TrackInfo} from "../data/protocol";
import type {Source} from "../data/source";
import type {Track} from "../data/track";
import {namesOf} from "../data/track";
import type {ViewCache} from "../data/view_cache";
import type {Layout} from "./layout";
import {layOut} from "./layout";
import type {Span} from "./viewport";
import {Viewport} from "./viewport";

export interface RunView {
  index: number;  // 0 = A, 1 = B
  info: RunAnswer;
  source: Source;
  names: Names;
  times: OwnTimes;
  cache: ViewCache;
  overview: ViewCache;  // of the minimap
  offset: number;       // added to its times on the screen
  palettes: Map<string, Map<number, PaletteEntry>>;
  renew(info: RunAnswer): void;  // the recording was read anew
}

// What is under the pointer, in times of the screen.
export interface Hit {
  run: RunView;
  track: Track;
  depth: number;
  ref: Ref;
  name: number;
  from: number;
  to: number;
  merged: number;
  flags: number;
  cut: boolean;  // it begins before or ends after what from and to say
  step: number;  // ns: what from and to are rounded to
}

// A counter at a moment.
export interface Reading {
  run: RunView;
  track: TrackInfo;
  row: number;
  time: number;  // of the screen
  sample: Sample|null;
}

export interface Selected {
  run: RunView;
  event: EventAnswer;
}

export interface Range extends Span {
  // Whole steps, by number; `of` names whose times these are, where there are several, and
  // `process` is its place in the run's steps.
  steps?: {first: number; last: number; of?: string; process?: number};
}

// Where in a run what was searched lies.
export interface Density extends Span {
  run: RunView;
  events: number;
  bins: number[];  // from `from` to `to`, by the run's own clock
}

export interface Found {
  text: string;
  events: number;
  density: Density[];  // of each run
  most: number;        // in one bin
  names: Map<RunView, Set<number>>;
}

// The gap that was asked for last, and what was searched for it.
export interface Searched extends LongestAnswer {
  run: RunView;
  nth: number;
  event: EventRef;
  others?: {run: RunView; event: EventRef}[];  // the longest of other runs that were asked too
}

export type Change =
  "view"|"layout"|"data"|"hover"|"mark"|"selection"|"range"|"search"|"notes"|"run"|"names";

const kMayBeQuiet = ["stream", "thread"];
const kPinnedRanks = 4;  // more take room from what else there is

export class Model {
  readonly view: Viewport;
  layout: Layout = {pinned: [], pinnedHeight: 0, blocks: [], height: 0};
  open = new Map<number, boolean>();
  pinned: number[] = [];
  private pinsChosen = false;  // by the reader or a link
  filter = "";
  private revealed?: number;          // id of the track that was brought into view last
  private quiet = new Set<number>();  // track ids
  scroll = 0;
  scale = 1;  // of letters and rows
  hover: Hit|null = null;
  selected: Selected|null = null;
  reading: Reading|null = null;  // instead of an event
  links: Link[] = [];            // of the selected event, in its run's times
  range: Range|null = null;
  mark: Span|null = null;  // temporary
  found: Found|null = null;
  searched: Searched|null = null;
  notes: Note[] = [];  // of all runs, each by its own run's clock
  private readonly runsOfNotes = new WeakMap<Note, RunView>();
  private readonly listeners: ((change: Change) => void)[] = [];

  constructor(public runs: RunView[], public tracks: Track[], public whole: Span) {
    this.view = new Viewport(whole.from, whole.to, 1);
    this.relay();
  }

  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  changed(change: Change): void {
    if (change === "layout") this.relay();
    for (const listener of this.listeners) listener(change);
  }

  private relay(): void {
    const {open, pinned, filter, quiet, revealed: also, scale} = this;
    this.layout = layOut(this.tracks, {open, pinned, filter, quiet, also, scale});
  }

  get first(): RunView {
    return this.runs[0];
  }

  runOf(track: Track): RunView {
    return this.runs[track.run];
  }

  notesOf(run: RunView): Note[] {
    return this.notes.filter((note) => this.runOfNote(note) === run);
  }

  setNotes(run: RunView, notes: readonly Note[]): void {
    const others = this.notes.filter((note) => this.runOfNote(note) !== run);
    for (const note of notes) this.runsOfNotes.set(note, run);
    this.notes = [...others, ...notes];
    this.notes.sort((a, b) => this.spanOfNote(a).from - this.spanOfNote(b).from);
  }

  runOfNote(note: Note): RunView {
    return this.runsOfNotes.get(note) ?? this.first;
  }

  // On the axis.
  spanOfNote(note: Note): Span {
    const {offset} = this.runOfNote(note);
    return {from: note.from + offset, to: note.to + offset};
  }

  show({from, to}: Span): void {
    this.view.from = from;
    this.view.to = to;
    this.changed("view");
    const busy =
      [...this.quiet].filter((id) => this.touches(this.tracks.find((one) => one.id === id)));
    if (busy.length === 0) return;
    for (const id of busy) this.quiet.delete(id);
    this.changed("layout");
  }

  // Streams and threads with nothing in the first picture take no rows until something of theirs
  // was in one.
  settle(): void {
    const quiet =
      this.tracks.filter((track) => kMayBeQuiet.includes(track.kind) && !this.touches(track));
    this.quiet = new Set(quiet.map(({id}) => id));
    this.changed("layout");
  }

  private touches(track: Track|undefined): boolean {
    if (!track?.info) return true;
    const {offset} = this.runOf(track);
    return track.info.from + offset < this.view.to && track.info.to + offset > this.view.from;
  }

  isOpen(track: Track): boolean {
    return this.open.get(track.id) ?? track.open;
  }

  fold(track: Track, open: boolean): void {
    this.open.set(track.id, open);
    this.changed("layout");
  }

  setFilter(text: string): void {
    this.filter = text;
    this.revealed = undefined;
    this.changed("layout");
  }

  // Unfolds what a track is in, and the track itself, which the filter then does not hide.
  reveal(id: number): Track|undefined {
    const byId = new Map(this.tracks.map((track) => [track.id, track]));
    const track = byId.get(id);
    this.quiet.delete(id);
    this.revealed = id;
    for (let at = track; at; at = byId.get(at.parent))
      if (!this.isOpen(at)) this.open.set(at.id, true);
    this.changed("layout");
    return track;
  }

  pin(id: number): void {
    this.setPins(this.pinned.includes(id) ? this.pinned.filter((other) => other !== id)
                                          : [...this.pinned, id]);
  }

  setPins(ids: number[]): void {
    this.pinned = ids;
    this.pinsChosen = true;
    this.changed("layout");
  }

  // The steps of each run, until the reader pins something else; of few ranks those of each.
  pinSteps(): void {
    if (this.pinsChosen) return;
    const steps = this.tracks.filter(({kind}) => kind === "steps");
    const few = this.runs.length === 1 && steps.length <= kPinnedRanks;
    const pinned =
      few ? steps : steps.filter(({run}, i) => steps.findIndex((one) => one.run === run) === i);
    this.pinned = pinned.map(({id}) => id);
    this.changed("layout");
  }

  // Of a new reading: what is folded and pinned stays so.
  renewTracks(tracks: Track[]): void {
    const [old, now] = [namesOf(this.tracks), namesOf(tracks)];
    const idOf = new Map([...now].map(([id, name]) => [name, id]));
    const renewed = (id: number): number|undefined => idOf.get(old.get(id) ?? "");
    this.open = new Map([...this.open].flatMap(([id, open]): [number, boolean][] => {
      const next = renewed(id);
      return next === undefined ? [] : [[next, open]];
    }));
    this.pinned = this.pinned.flatMap((id) => renewed(id) ?? []);
    this.tracks = tracks;
    this.quiet.clear();  // ids of the reading before
    this.revealed = renewed(this.revealed ?? -1);
    this.pinSteps();
  }

  setMark(mark: Span|null): void {
    this.mark = mark;
    this.changed("mark");
  }

  setRange(range: Range|null): void {
    this.range = range;
    this.changed("range");
  }
}
