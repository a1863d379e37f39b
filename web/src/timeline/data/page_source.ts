// A run whose events are in the page itself: answers as the server does, as far as times and names
// tell it.
import {rowKey} from "./answer";
import type {ViewAnswer} from "./answer";
import type {Samples} from "./items";
import {higher, lower} from "./items";
import type {PageEvents} from "./page_events";
import {PageSearch} from "./page_search";
import type {EventAnswer, NamesAnswer, RunAnswer, TableInfo, ViewRequest} from "./protocol";
import {kNoName} from "./protocol";
import {pageRange} from "./page_range";
import {stepOf, stepsOf} from "./steps";
import type {Source} from "./source";
import {CallError} from "./source";
import {itemsIn} from "./view_query";

export interface PageNames extends NamesAnswer {
  ids: number[];
}

export class PageSource implements Source {
  readonly isStatic = true;
  private readonly names: Map<number, string>;
  private readonly labels = new Map<number, string>();
  private readonly search: PageSearch;

  constructor(
    private readonly run: RunAnswer, names: PageNames, private readonly events: PageEvents) {
    this.names = new Map(names.ids.map((id, i) => [id, names.names[i]]));
    for (const [place, label] of Object.entries(names.labels ?? {}))
      this.labels.set(names.ids[Number(place)], label);
    this.search = new PageSearch(run, events, (id) => this.nameOf(id));
  }

  // The whole of it.
  private nameOf(id: number): string {
    return this.events.longNames?.get(id) ?? this.shownName(id);
  }

  private shownName(id: number): string {
    return id === kNoName ? "" : this.names.get(id) ?? "";
  }

  private namesOf(ids: number[]): NamesAnswer {
    const labels: Record<number, string> = {};
    ids.forEach((id, i) => {
      const label = this.labels.get(id);
      if (label !== undefined) labels[i] = label;
    });
    return {names: ids.map((id) => this.shownName(id)), labels};
  }

  async view({from, to, step, rows}: ViewRequest): Promise<ViewAnswer> {
    const answer: ViewAnswer = {
      from,
      to,
      step,
      shrunk: false,
      generation: this.run.generation,
      rows: new Map(),
      counters: new Map(),
      bytes: 0
    };
    for (const [track, first, count] of rows) {
      for (let row = first; row < first + count; ++row) {
        const key = rowKey(track, row);
        const events = this.events.rows.get(key);
        const counter = this.events.counters.get(key);
        if (counter) answer.counters.set(key, samplesIn(counter, from, to, step));
        if (!events) continue;
        const items = itemsIn(events, from, to, step);
        answer.rows.set(key, items);
        answer.bytes += 22 * items.count;
      }
    }
    return answer;
  }

  async call<Answer>(name: string, request: object = {}): Promise<Answer> {
    const calls: Record<string, (request: never) => object> = {
      run: () => this.run,
      names: ({ids}: {ids: number[]}) => this.namesOf(ids),
      event: (asked: {ref?: number; table?: string; row?: number}) => this.event(asked),
      find: (asked: {text: string; limit?: number}) => this.search.find(asked),
      next: (asked: never) => this.search.next(asked),
      longest: (asked: never) => this.search.longest(asked),
      density: (asked: never) => this.search.density(asked),
      range: (asked: never) => pageRange(this.run, this.events, (id) => this.nameOf(id), asked),
      links: () => ({links: [], more: false}),
      times: ({refs}: {refs: number[]}) => this.search.times(refs),
      notes: () => ({notes: [], hash: this.run.hash, writable: false}),
    };
    const answer = calls[name];
    if (!answer)
      throw new CallError("static",
        `This needs batchlight view ${this.run.source}: a page in a file cannot answer it.`);
    return answer(request as never) as Answer;
  }

  private event(asked: {ref?: number; table?: string; row?: number}): EventAnswer {
    const table = this.run.tables.find(({key}) => key === asked.table);
    const ref = asked.ref ?? (table ? table.first_ref + (asked.row ?? 0) : -1);
    const found = this.search.byRef(ref);
    if (!found)
      throw new CallError(
        "unknown", "This event is not in the page: it was left out to keep the file small.");
    const of = tableOf(this.run, ref);
    const track = this.run.tracks.find(({id}) => id === found.track);
    const steps = track && stepsOf(this.run, track.group);
    const i = stepOf(steps, found, track?.kind);
    const step =
      steps && i >= 0 ? {number: steps.number[i], from: steps.from[i], to: steps.to[i]} : null;
    return {
      ...found,
      row: ref - (of?.first_ref ?? 0),
      title: of?.title ?? "",
      open: this.search.isOpen(found),
      step,
      fields: [],
      parents: this.search.parents(found),
      children: this.search.children(found),
      links: [],
      ...sampledOf(this.events, ref),
      waited_for: this.events.waitedFor?.get(ref) ?? null,
      same_name: this.search.sameName(found),
    };
  }
}

function sampledOf({sampled}: PageEvents, ref: number): Pick<EventAnswer, "sampled"|"did"> {
  const i = sampled?.ref.indexOf(ref) ?? -1;
  if (!sampled || i < 0) return {sampled: null, did: null};
  const {columns: {looks, apart, line, line_ns, steps, ran, ready, gil, waited}} = sampled;
  const did =
    {ran: ran[i], ready: ready[i], gil: gil[i], waited: waited[i], knows_ready: sampled.knowsReady};
  return {
    sampled:
      {looks: looks[i], apart: apart[i], line: line[i], line_ns: line_ns[i], steps: steps[i]},
    did: did.ran + did.ready + did.gil + did.waited > 0 ? did : null,
  };
}

export function tableOf(run: RunAnswer, ref: number): TableInfo|undefined {
  return run.tables.find(({first_ref, rows}) => first_ref <= ref && ref < first_ref + rows);
}

// One sample for each step in which the value changes.
function samplesIn(counter: {time: Float64Array; value: Float64Array}, from: number, to: number,
  step: number): Samples {
  const list: [number, number, number, number][] = [];
  counter.time.forEach((time, i) => {
    if (time >= to) return;
    const start = Math.max(0, Math.floor((time - from) / step));
    const value = counter.value[i];
    const last = list[list.length - 1];
    if (!last || last[0] !== start) list.push([start, value, value, value]);
    else if (time <= from) list[list.length - 1] = [start, value, value, value];
    else list[list.length - 1] = [start, lower(last[1], value), higher(last[2], value), value];
  });
  return {
    from,
    step,
    count: list.length,
    start: Uint32Array.from(list, ([start]) => start),
    least: Float64Array.from(list, ([, least]) => least),
    most: Float64Array.from(list, ([, , most]) => most),
    last: Float64Array.from(list, ([, , , last]) => last),
  };
}
