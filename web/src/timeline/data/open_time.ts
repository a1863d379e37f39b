// The time in which at least one call of a name is open on its thread, in the rows of a static
// page.

// Tracks whose events are calls: one may lie within another of its name.
const kNesting: ReadonlySet<string> = new Set(["thread", "imports", "python", "native", "ranges"]);

export function nests(kind: string): boolean {
  return kNesting.has(kind);
}

interface Spans {
  start: number[];
  end: number[];
}

function none(): Spans {
  return {start: [], end: []};
}

function merged(a: Spans, b: Spans): Spans {
  if (a.start.length === 0) return b;
  const all = none();
  for (let i = 0, j = 0; i < a.start.length || j < b.start.length;) {
    const fromA = j >= b.start.length || (i < a.start.length && a.start[i] < b.start[j]);
    const [from, at] = fromA ? [a, i++] : [b, j++];
    all.start.push(from.start[at]);
    all.end.push(from.end[at]);
  }
  return all;
}

// Calls of one name: track by track, in each from the outermost row inwards, by start.
export class OpenTime {
  private track = -1;
  private depth = -1;
  private outer = none();  // of the rows above: no one lies within another
  private own = none();
  private at = 0;  // in outer

  // What the call adds to it.
  add(track: number, depth: number, start: number, end: number): number {
    if (track !== this.track) [this.outer, this.own] = [none(), none()];
    else if (depth !== this.depth) [this.outer, this.own] = [merged(this.outer, this.own), none()];
    if (track !== this.track || depth !== this.depth) this.at = 0;
    [this.track, this.depth] = [track, depth];
    const {outer, own} = this;
    while (this.at < outer.end.length && outer.end[this.at] < end) ++this.at;
    if (outer.start[this.at] <= start) return 0;
    own.start.push(start);
    own.end.push(end);
    return end - start;
  }
}
