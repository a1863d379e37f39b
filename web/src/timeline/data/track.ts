// Tracks as they are shown, in their order and nesting. Groups of the run (processes, GPUs) are
// tracks without rows.
import type {RunAnswer, TrackInfo} from "./protocol";

export interface Track {
  id: number;            // of all tracks and groups of all runs
  parent: number;        // id, -1: none
  run: number;           // of the compared ones, 0 = A
  info: TrackInfo|null;  // null: a group
  kind: string;
  name: string;
  rows: number;   // 0: a group
  open: boolean;  // until the reader decides
}

const kPerRun = 2 ** 24;
const kGroups = 2 ** 23;  // ids from here are groups

export function trackId(run: number, track: number): number {
  return run * kPerRun + track;
}

function groupId(run: number, group: number): number {
  return group < 0 ? -1 : run * kPerRun + kGroups + group;
}

// A group stands where its first track does among the tracks around it.
export function tracksOf(run: RunAnswer, index: number): Track[] {
  const groups = run.groups.map((group): Track => ({
    id: groupId(index, group.id),
    parent: groupId(index, group.parent),
    run: index,
    info: null,
    kind: group.kind,
    name: group.title,
    rows: 0,
    open: true,
  }));
  const tracks = run.tracks.map((track): Track => ({
    id: trackId(index, track.id),
    parent: groupId(index, track.group),
    run: index,
    info: track,
    kind: track.kind,
    name: track.title,
    rows: track.rows,
    open: track.open,
  }));
  const place = new Map<number, number>();  // of a group: its first track's id
  const byId = new Map(groups.map((group) => [group.id, group]));
  for (const track of tracks)
    for (let at = byId.get(track.parent); at && !place.has(at.id); at = byId.get(at.parent))
      place.set(at.id, track.id);
  const placeOf = ({id, rows}: Track): number => rows > 0 ? id : place.get(id) ?? Infinity;
  return [...groups, ...tracks].sort((a, b) => placeOf(a) - placeOf(b));
}

export function childrenOf(tracks: readonly Track[]): Map<number, Track[]> {
  const children = new Map<number, Track[]>();
  for (const track of tracks) {
    const list = children.get(track.parent);
    if (list) list.push(track);
    else children.set(track.parent, [track]);
  }
  return children;
}

// What a track is called among all, the same for the next reading of the run: ids may be others.
export function namesOf(tracks: readonly Track[]): Map<number, string> {
  const names = new Map<number, string>();
  const seen = new Map<string, number>();
  const children = childrenOf(tracks);
  const add = (parent: number, path: string): void => {
    for (const {id, run, kind, name} of children.get(parent) ?? []) {
      const plain = `${path}/${run}:${kind}:${name}`;
      const count = (seen.get(plain) ?? 0) + 1;
      seen.set(plain, count);
      const full = `${plain}#${count}`;
      names.set(id, full);
      add(id, full);
    }
  };
  add(-1, "");
  return names;
}

// Tracks of two runs as one list: each of B stands after the one of A that is the same kind of
// thing in the same place, and in its group.
export function interleaved(a: readonly Track[], b: readonly Track[]): Track[] {
  const inA = childrenOf(a);
  const inB = childrenOf(b);
  const out: Track[] = [];
  const join = (parentA: number, parentB: number, parent: number): void => {
    const left = inA.get(parentA) ?? [];
    const right = [...(parentB === kNoParent ? [] : inB.get(parentB) ?? [])];
    const add = (track: Track, other: Track|undefined): void => {
      out.push({...track, name: headingOf(track, other), parent});
      if (track.rows > 0 && other) out.push({...other, parent});
      if (track.rows === 0) join(track.id, other ? other.id : kNoParent, track.id);
    };
    for (const track of left) {
      const at = right.findIndex(
        ({kind, rows}) => kind === track.kind && (rows === 0) === (track.rows === 0));
      add(track, at < 0 ? undefined : right.splice(at, 1)[0]);
    }
    for (const track of right) addAll(track, parent);
  };
  const addAll = (track: Track, parent: number): void => {
    out.push({...track, parent});
    for (const child of inB.get(track.id) ?? []) addAll(child, track.id);
  };
  join(-1, -1, -1);
  return out;
}

const kNoParent = -2;

// What a group of both runs is called: without the numbers of processes, which differ from run to
// run, and where more than these do, by both names.
function headingOf({name, rows}: Track, other: Track|undefined): string {
  if (rows > 0 || !other || name === other.name) return name;
  const [a, b] = [name, other.name].map((one) => one.replace(/ \(pid \d+\)$/, ""));
  return a === b ? a : `${a} / ${b}`;
}
