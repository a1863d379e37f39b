// What the threads of a process did while its GPU had nothing to do or a step did what is in no
// phase, and the workers of its loader while a step waited for data: in each, the innermost event
// that fills most of the gap; of a thread that began several events in it, these or, where it was
// outside of all events for longer, between which two that was. Of threads beside the one that the
// GPU waited for, what they ran: one that waits for work or polls kept nobody.
import type {EventAnswer, EventRef, LineWithin, Ref, RowRange, TrackInfo} from "../data/protocol";
import {rowKey} from "../data/answer";
import type {ViewAnswer} from "../data/answer";
import type {Items} from "../data/items";
import {isMaking, isWaitForData, isWaitingCall, phaseOf, tracksOfWorkers} from "../data/loader_workers";
import {endOf, startOf} from "../data/items";
import type {Track} from "../data/track";
import {trackId} from "../data/track";
import type {Model, RunView} from "../state/model";
import {kStalls} from "../input/finder";
import {placeOf} from "../state/places";
import type {Span} from "../state/viewport";

const kGaps = ["gpu_idle", "gpu_idle_causes"];
const kKinds = ["thread", "imports", "python"];
const kMostTracks = 8;
const kShown = 3;
const kSteps = 256;     // of the gap, in which it is looked at
const kEnoughOf = 0.5;  // of the gap
// Samples of Python are usually 5 ms apart: what they found around a shorter gap may not be what
// ran in it, and of one that is much shorter they say nothing.
const kSampleNs = 5e6;
const kLeastSampledNs = 1e6;

// Functions of Python's own in which a thread waits for another one, or for a time.
const kWaitsInPython =
  /^(threading|queue|queues|selectors|connection|synchronize|popen_\w+|subprocess|_base|pin_memory)\.py:\d+\(.*(wait|get|select|poll|_poll|recv\w*|_recv\w*|acquire|join|loop)\)$/;

interface InEvent {
  track: string;
  event: EventAnswer;
  within: number;    // of its time, in the gap
  guessed: boolean;  // by samples that are further apart than the gap is long
  line?: number;     // of a function that holds the loop, in which it was for that long
}

interface Outside {
  track: string;
  before: EventRef|null;  // the longest piece of it
  after: EventRef;
  longest: number;
  within: number;
}

interface Several {
  track: string;
  count: number;
  longest: EventAnswer;
  within: number;
}

export type Meanwhile = InEvent|Outside|Several;

export async function meanwhileOf(
  model: Model, run: RunView, gap: EventAnswer): Promise<Meanwhile[]> {
  if (gap.to <= gap.from) return [];
  const made = isWaitForData(run, gap) ? await inWorkers(model, run, gap) : [];
  if (made.length > 0) return made;
  const stalls = isStall(run, gap);
  if (!stalls && !kGaps.includes(gap.table)) return [];
  const id = trackId(run.index, gap.track ?? -1);
  const tracks =
    threadsOf(model.tracks, run.index, processAround(model.tracks, id, stalls ? 1 : 2));
  if (tracks.length === 0) return [];
  const view = await viewOf(run, gap, tracks.map(({info}) => info!));
  const awaited = awaitedOf(tracks.map(({info}) => info!), gap.waited_for);
  const found: Meanwhile[] = [];
  for (const track of tracks) {
    if (found.length >= kShown) break;
    const sampled = track.kind === "python";
    if (sampled && gap.to - gap.from < kLeastSampledNs) continue;
    const ref = innermost(view, track.info!, gap);
    if (ref !== null) {
      const event = await run.source.call<EventAnswer>("event", {ref});
      if (!awaited.has(track.info!.id) && isWaiting(event)) continue;
      const guessed = sampled && gap.to - gap.from < kSampleNs;
      if (!stalls || !isAround(event, gap.step)) {
        found.push({track: track.name, event, within: withinOf(event, gap), guessed});
        continue;
      }
      // What holds the step tells nothing of a part of it but, of the thread that trains, the line
      // that it was in.
      const trains = track === tracks.find(({kind}) => kind === "python");
      const at = trains ? await lineOf(run, ref, gap) : null;
      if (at && at.line_ns >= kEnoughOf * (gap.to - gap.from))
        found.push({track: track.name, event, within: at.line_ns, guessed, line: at.line});
    } else if (track.kind === "thread") {
      const pieces = piecesOf(view.rows.get(rowKey(track.info!.id, 0)), gap);
      const one = pieces && await inPieces(run, track, pieces, gap);
      if (one && (awaited.has(track.info!.id) || "count" in one && !isWaiting(one.longest)))
        found.push(one);
    }
  }
  return found;
}

// The tracks of the thread that the GPU waited for; where that is not known, of the first one.
export function awaitedOf(
  tracks: readonly TrackInfo[], waitedFor: readonly number[]|null|undefined): Set<number> {
  if (waitedFor && waitedFor.length > 0) return new Set(waitedFor);
  const second = tracks.findIndex(({kind}, i) => i > 0 && kind === "thread");
  return new Set((second < 0 ? tracks : tracks.slice(0, second)).map(({id}) => id));
}

// Whether a thread mostly waited in an event: by looks or, where these do not tell, by its name.
export function isWaiting(event: EventAnswer): boolean {
  if (isWaitingCall(event)) return true;
  const {did} = event;
  if (did) return did.waited > did.ran + did.ready + did.gil;
  return kWaitsInPython.test(event.name);
}

async function viewOf(run: RunView, {from, to}: Span, tracks: TrackInfo[]): Promise<ViewAnswer> {
  const step = 2 ** Math.max(0, Math.floor(Math.log2((to - from) / kSteps)));
  const rows = tracks.map((track): RowRange => [track.id, 0, track.rows]);
  return run.source.view(
    {from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, step, rows});
}

function withinOf(event: Span, gap: Span): number {
  return Math.min(event.to, gap.to) - Math.max(event.from, gap.from);
}

async function inWorkers(model: Model, run: RunView, wait: EventAnswer): Promise<Meanwhile[]> {
  const tracks = tracksOfWorkers(run.info, wait);
  if (tracks.length === 0) return [];
  const view = await viewOf(run, wait, tracks);
  const found: InEvent[] = [];
  for (const track of tracks) {
    if (found.length >= kShown) break;
    const ref = innermost(view, track, wait);
    const event = ref === null ? null : await run.source.call<EventAnswer>("event", {ref});
    if (!event || !isMaking(event, track.kind)) continue;
    const place = placeOf(model, run, {track: track.id});
    found.push({track: place, event, within: withinOf(event, wait), guessed: false});
  }
  return found;
}

export interface Pieces {
  events: number;  // of the outermost row, in the gap
  longest: Ref;    // of these
  outside: number;
  hole: Span;  // the longest time outside of all
}

// What a thread does that begins something in the gap. null: it begins nothing, so that it did not
// keep the GPU waiting.
export function piecesOf(items: Items|undefined, gap: Span): Pieces|null {
  const pieces = {events: 0, longest: 0, outside: 0, hole: {from: gap.from, to: gap.from}};
  let from = gap.from;
  let [most, begins] = [-1, false];
  for (let i = 0; items && i < items.count; ++i) {
    const [start, end] = [startOf(items, i), endOf(items, i)];
    if (end <= gap.from || start >= gap.to) continue;
    begins = begins || start > gap.from;
    if (start - from > pieces.hole.to - pieces.hole.from) pieces.hole = {from, to: start};
    const within = Math.min(end, gap.to) - Math.max(start, gap.from);
    pieces.outside += Math.max(0, start - from) + within * (1 - items.busy[i] / 255);
    pieces.events += items.merged[i];
    if (within > most) [most, pieces.longest] = [within, items.ref[i]];
    from = Math.max(from, end);
  }
  pieces.outside += Math.max(0, gap.to - from);
  if (gap.to - from > pieces.hole.to - pieces.hole.from) pieces.hole = {from, to: gap.to};
  return begins ? pieces : null;
}

// A page in a file does not know it.
async function lineOf(run: RunView, ref: Ref, gap: Span): Promise<LineWithin|null> {
  const part = {from: String(Math.floor(gap.from)), to: String(Math.ceil(gap.to))};
  return (await run.source.call<EventAnswer>("event", {ref, ...part})).line_within ?? null;
}

async function inPieces(
  run: RunView, track: Track, pieces: Pieces, gap: Span): Promise<Meanwhile|null> {
  const {events, outside, hole} = pieces;
  if (outside < kEnoughOf * (gap.to - gap.from)) {
    const longest = await run.source.call<EventAnswer>("event", {ref: pieces.longest});
    return {track: track.name, count: events, longest, within: gap.to - gap.from - outside};
  }
  const beside = async(at: number, direction: 1|- 1): Promise<EventRef|null> => (
    await run.source.call<{event: EventRef | null}>("next",
      {text: "", track: track.info!.id, at: String(Math.round(at)), direction})).event;
  const middle = (hole.from + hole.to) / 2;
  const [before, after] = [await beside(middle, -1), await beside(middle, 1)];
  const longest = Math.min(outside, hole.to - hole.from);
  return after && {track: track.name, before, after, longest, within: outside};
}

// The group that a track stands in, so many levels up: the tracks of a GPU stand in it, and it in
// its process.
export function processAround(tracks: readonly Track[], id: number, levels: number): number {
  let at = id;
  for (let left = levels; left > 0; --left) at = tracks.find((one) => one.id === at)?.parent ?? -1;
  return at;
}

// Of two runs the other's threads may stand there too.
export function threadsOf(tracks: readonly Track[], run: number, process: number): Track[] {
  return tracks
    .filter((one) => one.run === run && one.parent === process && process >= 0 &&
        kKinds.includes(one.kind))
    .slice(0, kMostTracks);
}

// Whether the training thread may stand still in this event, and no phase says why.
function isStall(run: RunView, event: EventAnswer): boolean {
  return event.to - event.from >= kLeastSampledNs && kStalls.includes(phaseOf(run, event) ?? "");
}

function isAround({from, to}: Span, step: EventAnswer["step"]): boolean {
  return step ? from <= step.from && to >= step.to : false;
}

function innermost(view: ViewAnswer, track: TrackInfo, gap: EventAnswer): number|null {
  for (let row = track.rows - 1; row >= 0; --row) {
    const items = view.rows.get(rowKey(track.id, row));
    for (let i = 0; items && i < items.count; ++i)
      if (items.merged[i] === 1 && items.width[i] * view.step >= kEnoughOf * (gap.to - gap.from))
        return items.ref[i];
  }
  return null;
}
