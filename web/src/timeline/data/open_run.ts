// Opens what the page is about: the events in the page itself, or the runs of a server.
import type {Track} from "./track";
import {interleaved, tracksOf} from "./track";
import type {Span} from "../state/viewport";
import type {RunView} from "../state/model";
import type {Connection} from "./connection";
import {HttpSource} from "./http_source";
import {Names} from "./names";
import {OwnTimes} from "./own_times";
import {decodePageEvents} from "./page_events";
import type {PageNames} from "./page_source";
import {PageSource} from "./page_source";
import type {RunAnswer, StatusAnswer} from "./protocol";
import type {Source} from "./source";
import {CallError} from "./source";
import {ViewCache} from "./view_cache";

export interface Listeners {
  onData(): void;
  onNames(): void;
  onError(error: Error): void;
  onProgress(words: string, share: number): void;
  readonly connection: Connection;
}

const kPollMs = 250;
const kGoneMs = 2000;

export function isStaticPage(): boolean {
  return document.getElementById("timeline-events") !== null;
}

export async function openRuns(listeners: Listeners): Promise<RunView[]> {
  if (isStaticPage()) {
    const {info, source} = await openPage();
    return [runView(0, info, source, listeners)];
  }
  const runs = await waitUntilReady(listeners);
  return Promise.all(runs.map((_, index) => openServed(index, listeners)));
}

async function openServed(index: number, listeners: Listeners): Promise<RunView> {
  let counters: ReadonlySet<number> = new Set();
  const source = new HttpSource(index, listeners.connection, (track) => counters.has(track));
  const info = await source.call<RunAnswer>("run");
  source.generation = info.generation;
  counters = countersOf(info);
  return runView(index, info, source, listeners, (next) => {
    source.generation = next.generation;
    counters = countersOf(next);
  });
}

function countersOf(info: RunAnswer): ReadonlySet<number> {
  return new Set(info.tracks.filter(({counter}) => counter).map(({id}) => id));
}

async function waitUntilReady(listeners: Listeners): Promise<StatusAnswer["runs"]> {
  const source = new HttpSource(0, listeners.connection, () => false);
  for (;;) {
    const {runs} = await statusOf(source, listeners);
    const failed = runs.find(({error}) => error !== "");
    if (failed) throw new CallError("read", failed.error);
    if (runs.every(({ready}) => ready)) return runs;
    const {doing, progress} = runs.find(({ready}) => !ready)!;
    listeners.onProgress(doing, progress);
    await new Promise((resolve) => setTimeout(resolve, kPollMs));
  }
}

// Once it answers.
async function statusOf(source: Source, listeners: Listeners): Promise<StatusAnswer> {
  for (;;) {
    try {
      return await source.call<StatusAnswer>("status");
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== "gone") throw error;
      listeners.onProgress(error.message, 0);
    }
    await new Promise((resolve) => setTimeout(resolve, kGoneMs));
  }
}

function json<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? "null") as T;
}

// Uint8Array.from() with a function is told each letter as a text of its own: half of the time
// until a page of 1.5 million events is shown, and 150 MB of garbage.
function bytesOf(base64: string): Uint8Array {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function openPage(): Promise<{info: RunAnswer; source: Source}> {
  const info = json<RunAnswer>("timeline-run");
  const names = json<PageNames>("timeline-names");
  const element = document.getElementById("timeline-events")!;
  const packed = bytesOf((element.textContent ?? "").trim());
  element.remove();  // megabytes that nobody needs twice
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return {info, source: new PageSource(info, names, decodePageEvents(bytes))};
}

function runView(index: number, info: RunAnswer, source: Source, listeners: Listeners,
  onRenew: (info: RunAnswer) => void = () => {}): RunView {
  const whole = wholeOf(info);
  const cache = (): ViewCache =>
    new ViewCache(source, whole, () => listeners.onData(), (error) => listeners.onError(error));
  return {
    index,
    info,
    source,
    names: new Names(source, () => listeners.onNames()),
    times: new OwnTimes(source, () => listeners.onNames()),
    cache: cache(),
    overview: cache(),
    offset: index === 0 ? 0 : -whole.from,
    palettes: palettesOf(info),
    renew(next) {
      onRenew(next);
      const same = sameTracks(this.info, next);
      this.info = next;
      this.names.clear();
      this.times.clear();
      this.palettes = palettesOf(next);
      this.cache.renew(wholeOf(next), same);
      this.overview.renew(wholeOf(next), same);
    },
  };
}

// Whether ids stand for the same tracks.
function sameTracks({tracks: a}: RunAnswer, {tracks: b}: RunAnswer): boolean {
  return a.every(({kind, title, group}, i) =>
                   kind === b[i]?.kind && title === b[i].title && group === b[i].group);
}

function palettesOf({palettes}: RunAnswer): RunView["palettes"] {
  return new Map(Object.entries(palettes).map(
    ([key, entries]) => [key, new Map(entries.map((entry) => [entry.name, entry]))]));
}

export function wholeOf(info: RunAnswer): Span {
  const {from, to} = info.static?.left_out ? info.static : info;
  return {from, to: Math.max(to, from + 1)};
}

// What the page holds of the runs, in times of the screen.
export function wholeOfAll(runs: readonly RunView[]): Span {
  return around(runs, wholeOf);
}

// All of the runs, likewise.
export function recordedOfAll(runs: readonly RunView[]): Span {
  return around(runs, ({from, to}) => ({from, to}));
}

function around(runs: readonly RunView[], spanOf: (info: RunAnswer) => Span): Span {
  const spans = runs.map(({info, offset}) => {
    const {from, to} = spanOf(info);
    return {from: from + offset, to: to + offset};
  });
  return {from: Math.min(...spans.map(({from}) => from)), to: Math.max(...spans.map(({to}) => to))};
}

export function tracksOfAll(runs: readonly RunView[]): Track[] {
  const [a, b] = runs.map(({info, index}) => tracksOf(info, index));
  return b ? interleaved(a, b) : a;
}
