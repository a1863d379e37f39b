// The stretch of time on the screen. Times are ns since the start of the recording, as doubles:
// exact to 104 days, so that nothing trembles deep in a zoom.

export interface Span {
  from: number;
  to: number;
}

export const kShortestNs = 20;  // across the whole screen
const kBeyond = 0.25;           // how far past the ends of the run one may look, in screens

export function lengthOf(span: Span): number {
  return span.to - span.from;
}

export class Viewport {
  constructor(public from: number, public to: number, public width: number) {}

  get span(): Span {
    return {from: this.from, to: this.to};
  }

  get nsPerPixel(): number {
    return (this.to - this.from) / this.width;
  }

  x(time: number): number {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }

  timeAt(x: number): number {
    return this.from + (x / this.width) * (this.to - this.from);
  }
}

// The span kept within the run, with its length where that is possible.
export function clamped(span: Span, whole: Span): Span {
  const longest = Math.max(lengthOf(whole), kShortestNs) * (1 + 2 * kBeyond);
  const length = Math.min(longest, Math.max(kShortestNs, lengthOf(span)));
  const least = whole.from - kBeyond * length;
  const most = whole.to + kBeyond * length - length;
  const middle = (span.from + span.to) / 2 - length / 2;
  const from = Math.min(
    Math.max(length === lengthOf(span) ? span.from : middle, least), Math.max(least, most));
  return {from, to: from + length};
}

// A factor below 1 shows less; the time `at` stays where it is.
export function zoomed(span: Span, at: number, factor: number, whole: Span): Span {
  const longest = Math.max(lengthOf(whole), kShortestNs) * (1 + 2 * kBeyond);
  const length = Math.min(longest, Math.max(kShortestNs, lengthOf(span) * factor));
  const share = (at - span.from) / lengthOf(span);
  const from = at - share * length;
  return clamped({from, to: from + length}, whole);
}

export function panned(span: Span, ns: number, whole: Span): Span {
  return clamped({from: span.from + ns, to: span.to + ns}, whole);
}

// The span with room around it: what is framed does not touch the edges.
export function framed(span: Span, whole: Span, room = 0.1): Span {
  const length = Math.max(lengthOf(span), 1);
  return clamped({from: span.from - room * length, to: span.to + room * length}, whole);
}

// The step of the server's answers: a power of two, at most a device pixel.
export function stepFor(nsPerDevicePixel: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, nsPerDevicePixel))));
}
