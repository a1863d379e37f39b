// Answers of `view` that are at hand, and when to ask for the next. Each answer reaches a screen
// beyond the view on both sides, so most pans and zooms need no new one; what is there is drawn,
// stretched, until the new one comes.
import type {Span} from "../state/viewport";
import {lengthOf, stepFor} from "../state/viewport";
import type {ViewAnswer} from "./answer";
import {rowKey} from "./answer";
import type {Items, Samples} from "./items";
import type {RowRange, ViewRequest} from "./protocol";
import type {Source} from "./source";

const kSkirt = 1;  // screens on each side
const kMostBytes = 48 * 2 ** 20;
const kMostAsked = 2;   // requests under way
const kPauseMs = 40;    // between two requests
const kRetryMs = 1000;  // after a failure; each more doubles it
const kMostRetryMs = 30_000;

interface Held {
  asked: ViewRequest;
  rows: ReadonlySet<string>;  // asked, also those that are not there
  answer: ViewAnswer;
}

interface Asked {
  request: ViewRequest;
  rows: ReadonlySet<string>;
  abort: AbortController;
}

// A part of a row: what to draw between two times.
export interface Layer<Data> {
  data: Data;
  from: number;
  to: number;
}

export class ViewCache {
  private held: Held[] = [];  // the latest first
  private asked: Asked[] = [];
  private lastSent = -Infinity;
  private failures = 0;  // since the last answer
  private timer = 0;

  constructor(
    private readonly source: Source,
    private whole: Span,
    private readonly onData: () => void,
    private readonly onError: (error: Error) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  // The run has more events, or others: what is held is drawn until the new comes, unless tracks
  // have other ids now.
  renew(whole: Span, sameTracks: boolean): void {
    this.whole = whole;
    for (const {abort} of this.asked) abort.abort();
    this.asked = [];
    this.failures = 0;
    if (!sameTracks) this.held = [];
    this.held = this.held.slice(0, 1).map((held) => ({...held, rows: new Set()}));
  }

  get failing(): boolean {
    return this.failures > 0;
  }

  get busy(): boolean {
    return this.asked.length > 0;
  }

  // Asks for what is missing to draw these rows over `span`. True: nothing is missing.
  want(span: Span, nsPerDevicePixel: number, ranges: readonly RowRange[]): boolean {
    const rows = keysOf(ranges);
    const within = intersection(span, this.whole);
    if (lengthOf(within) <= 0 || rows.size === 0) return true;
    const step = stepFor(nsPerDevicePixel);
    const fits = (request: ViewRequest, has: ReadonlySet<string>, covered: Span): boolean =>
      request.step <= step && covers(covered, within) && [...rows].every((row) => has.has(row));
    if (this.held.some(({asked, rows: has, answer}) => fits(asked, has, answer))) return true;
    if (this.asked.some(({request, rows: has}) => fits(request, has, request))) return false;
    const wait = this.pause - (this.now() - this.lastSent);
    if (wait > 0) {
      this.later(wait);
      return false;
    }
    this.send(this.request(span, step, ranges), rows);
    return false;
  }

  private get pause(): number {
    return this.failures === 0 ? kPauseMs
                               : Math.min(kMostRetryMs, kRetryMs * 2 ** (this.failures - 1));
  }

  // Looks again then.
  private later(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.onData(), ms) as unknown as number;
  }

  private request(span: Span, step: number, rows: readonly RowRange[]): ViewRequest {
    const skirt = kSkirt * lengthOf(span);
    const from = Math.max(this.whole.from, span.from - skirt);
    const to = Math.min(this.whole.to, span.to + skirt);
    return {
      from: Math.floor(from / step) * step,
      to: Math.ceil(to / step + 1) * step,
      step,
      rows: [...rows],
    };
  }

  private send(request: ViewRequest, rows: ReadonlySet<string>): void {
    while (this.asked.length >= kMostAsked) this.asked.shift()?.abort.abort();
    const asked = {request, rows, abort: new AbortController()};
    this.asked.push(asked);
    this.lastSent = this.now();
    void this.source.view(request, asked.abort.signal)
      .then((answer) => {
        if (asked.abort.signal.aborted) return;
        this.failures = 0;
        this.keep({asked: request, rows, answer});
      })
      .catch((error: Error) => {
        if (asked.abort.signal.aborted) return;
        ++this.failures;
        this.onError(error);
      })
      .finally(() => {
        this.asked = this.asked.filter((one) => one !== asked);
        this.onData();
      });
  }

  private keep(held: Held): void {
    this.held.unshift(held);
    let bytes = 0;
    this.held = this.held.filter(
      ({answer}) => (bytes += answer.bytes) <= kMostBytes || answer === held.answer);
  }

  itemsOf(track: number, row: number, span: Span, nsPerDevicePixel: number): Layer<Items>[] {
    return this.layers(span, nsPerDevicePixel, (answer) => answer.rows.get(rowKey(track, row)));
  }

  samplesOf(track: number, row: number, span: Span, nsPerDevicePixel: number): Layer<Samples>[] {
    return this.layers(span, nsPerDevicePixel, (answer) => answer.counters.get(rowKey(track, row)));
  }

  // The best answer for the span; where it does not reach, a coarser one on each side.
  private layers<Data>(
    span: Span, nsPerPixel: number, pick: (answer: ViewAnswer) => Data | undefined): Layer<Data>[] {
    const within = intersection(span, this.whole);
    const found = this.held.flatMap(({answer}) => {
      const data = pick(answer);
      return data && answer.from < span.to && answer.to > span.from ? [{answer, data}] : [];
    });
    const misfit = ({answer}: {answer: ViewAnswer}): number =>
      Math.abs(Math.log2(answer.step / nsPerPixel));
    const whole =
      found.filter(({answer}) => covers(answer, within)).sort((a, b) => misfit(a) - misfit(b))[0];
    if (whole && whole.answer.step <= 2 * nsPerPixel) return [{data: whole.data, ...span}];
    const part = found.sort((a, b) => misfit(a) - misfit(b))[0];
    if (!part || part === whole) return whole ? [{data: whole.data, ...span}] : [];
    const {from, to} = intersection(part.answer, span);
    const layers = [{data: part.data, from, to}];
    if (whole && span.from < from) layers.unshift({data: whole.data, from: span.from, to: from});
    if (whole && to < span.to) layers.push({data: whole.data, from: to, to: span.to});
    return layers;
  }
}

function keysOf(ranges: readonly RowRange[]): Set<string> {
  const keys = new Set<string>();
  for (const [track, first, count] of ranges)
    for (let row = first; row < first + count; ++row) keys.add(rowKey(track, row));
  return keys;
}

function intersection(a: Span, b: Span): Span {
  return {from: Math.max(a.from, b.from), to: Math.min(a.to, b.to)};
}

function covers(a: Span, b: Span): boolean {
  return a.from <= b.from && a.to >= b.to;
}
