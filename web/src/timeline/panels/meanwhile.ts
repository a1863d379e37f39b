// What the threads of a process did while its GPU had nothing to do: in each, the innermost event
// that fills most of the gap.
import type {EventAnswer, RowRange} from "../data/protocol";
import {rowKey} from "../data/answer";
import type {ViewAnswer} from "../data/answer";
import type {Track} from "../data/track";
import {trackId} from "../data/track";
import type {Model, RunView} from "../state/model";

const kGaps = ["gpu_idle", "gpu_idle_causes"];
const kKinds = ["thread", "imports", "python"];
const kMostTracks = 8;
const kShown = 3;
const kSteps = 256;     // of the gap, in which it is looked at
const kEnoughOf = 0.5;  // of the gap

export interface Meanwhile {
  track: string;
  event: EventAnswer;
  within: number;  // of its time, in the gap
}

export async function meanwhileOf(
  model: Model, run: RunView, gap: EventAnswer): Promise<Meanwhile[]> {
  if (!kGaps.includes(gap.table) || gap.to <= gap.from) return [];
  const tracks = threadsBeside(model.tracks, run.index, trackId(run.index, gap.track ?? -1));
  if (tracks.length === 0) return [];
  const step = 2 ** Math.max(0, Math.floor(Math.log2((gap.to - gap.from) / kSteps)));
  const rows = tracks.map((track): RowRange => [track.info!.id, 0, track.rows]);
  const view = await run.source.view(
    {from: Math.floor(gap.from / step) * step, to: Math.ceil(gap.to / step) * step, step, rows});
  const found: Meanwhile[] = [];
  for (const track of tracks) {
    const ref = innermost(view, track, gap);
    if (ref === null || found.length >= kShown) continue;
    const event = await run.source.call<EventAnswer>("event", {ref});
    const within = Math.min(event.to, gap.to) - Math.max(event.from, gap.from);
    found.push({track: track.name, event, within});
  }
  return found;
}

// Of the process that the GPU's tracks stand in. Of two runs the other's threads may stand there
// too.
export function threadsBeside(tracks: readonly Track[], run: number, id: number): Track[] {
  const parentOf = (of: number): number => tracks.find((one) => one.id === of)?.parent ?? -1;
  const process = parentOf(parentOf(id));
  return tracks
    .filter((one) => one.run === run && one.parent === process && process >= 0 &&
        kKinds.includes(one.kind))
    .slice(0, kMostTracks);
}

function innermost(view: ViewAnswer, track: Track, gap: EventAnswer): number|null {
  for (let row = track.rows - 1; row >= 0; --row) {
    const items = view.rows.get(rowKey(track.info!.id, row));
    for (let i = 0; items && i < items.count; ++i)
      if (items.merged[i] === 1 && items.width[i] * view.step >= kEnoughOf * (gap.to - gap.from))
        return items.ref[i];
  }
  return null;
}
