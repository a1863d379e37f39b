// The report's own tables over the selected stretch of time or steps.
import {h} from "../../dom";
import {time} from "../../format";
import {tabs} from "../../views/tabs";
import type {RangeAnswer, RangeTable, RunAnswer} from "../data/protocol";
import {stepsThereAre} from "../data/steps";
import {recordedOfAll} from "../data/open_run";
import {moment} from "../draw/ruler";
import {heldOfRange, lackOfSteps, lackOfTime} from "../state/held";
import type {Model, Range, RunView} from "../state/model";
import {runLetter} from "../state/places";
import type {Span} from "../state/viewport";
import {kTouch} from "../touch";
import {askedSteps, askedTime, joined, ofOneStep, partOf} from "./range_data";
import {tableBox} from "./table_box";

const kSettleMs = 180;  // after the last change of a range that is being dragged
const kSlowMs = 250;    // of all tables: the one in front is then asked for first

export class RangePanel {
  readonly element = h("div", {class: "range-panel"});
  private readonly form: HTMLElement;
  private readonly from = this.field("from, ms");
  private readonly to = this.field("to, ms");
  private readonly firstStep = this.field("first step");
  private readonly lastStep = this.field("last step");
  private readonly head = h("p", {class: "range-head"});
  private readonly held = h("p", {class: "held", role: "note", hidden: true});
  private readonly result = h("div", {class: "result"});
  private abort: AbortController|null = null;
  private timer = 0;
  private chosen = "phases";  // key of the table in front
  private tookMs = 0;         // the last time, for all tables

  // `goTo` brings a stretch of time into view.
  constructor(private readonly model: Model, private readonly goTo: (span: Span) => void) {
    this.form = this.makeForm();
    this.element.append(
      h("div", {class: "range-top"}, this.form, this.head), this.held, this.result);
    model.listen((change) => {
      if (change === "range") this.later();
    });
    this.draw();
  }

  private field(label: string): HTMLInputElement {
    return h("input", {
      type: "text",
      inputmode: "decimal",
      "aria-label": label,
      placeholder: label,
      size: 10,
    });
  }

  private makeForm(): HTMLElement {
    const {model} = this;
    // Enter leaves the field: the next key is one of the timeline's.
    const taken = (event: Event): void => {
      event.preventDefault();
      (document.activeElement as HTMLElement | null)?.blur();
    };
    const show = (event: Event): void => {
      taken(event);
      const asked = askedTime(this.from.value, this.to.value, recordedOfAll(model.runs));
      if (typeof asked === "string") return this.refuse(asked);
      model.setRange(asked);
      this.goTo(asked);
    };
    const showSteps = (event: Event): void => {
      taken(event);
      const asked = askedSteps(this.firstStep.value, this.lastStep.value);
      if (typeof asked === "string") return this.refuse(asked);
      const letter = runLetter(model, model.first);
      const lack = lackOfSteps(model.first.info, asked.first, asked.last, 0, letter);
      if (lack) return this.refuse(lack);
      this.showSteps(asked.first, asked.last);
      this.goTo(model.range!);
    };
    const button = (): HTMLElement => h("button", {type: "submit", class: "quiet"}, "Show");
    const steps =
      h("form", {submit: showSteps}, "steps", this.firstStep, "–", this.lastStep, button());
    // They are found after the first picture, or are yet to come.
    const showWhereThereAre = (): void => {
      steps.hidden = (model.first.info.steps[0]?.count ?? 0) === 0;
    };
    showWhereThereAre();
    model.listen((change) => {
      if (change === "run") showWhereThereAre();
    });
    return h("div", {class: "range-forms"},
      h("form", {submit: show}, this.from, "–", this.to, "ms", button()), steps);
  }

  // What was typed stays to be mended.
  private refuse(why: string): void {
    clearTimeout(this.timer);  // of a range before
    this.abort?.abort();
    this.head.replaceChildren();
    this.held.hidden = true;
    this.result.removeAttribute("aria-busy");
    this.result.replaceChildren(h("p", {class: "bad", role: "alert"}, why));
  }

  // Selects whole steps that there are.
  showSteps(first: number, last: number): void {
    const run = this.model.first;
    const steps = run.info.steps[0];
    const [begin, end] = [steps.number.indexOf(first), steps.number.indexOf(last)];
    this.model.setRange({
      from: steps.from[begin] + run.offset,
      to: steps.to[end] + run.offset,
      steps: {first, last},
    });
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.draw(), kSettleMs);
  }

  private async draw(): Promise<void> {
    this.abort?.abort();
    const {model} = this;
    const {range} = model;
    if (!range) {
      this.head.replaceChildren();
      this.held.hidden = true;
      this.result.replaceChildren(h("p", {class: "muted"},
        kTouch
          ? "Tap an event: its panel has the tables of its time and of its step. Or type the ends here."
          : "Drag over the rows or the axis, press T for the step around the selected event or R for its time, or type the ends here."));
      return;
    }
    const abort = this.abort = new AbortController();
    this.from.value = (range.from / 1e6).toFixed(6);
    this.to.value = (range.to / 1e6).toFixed(6);
    this.firstStep.value = range.steps ? String(range.steps.first) : "";
    this.lastStep.value = range.steps ? String(range.steps.last) : "";
    const {info} = model.first;
    const lack = range.steps
      ? lackOfSteps(info, range.steps.first, range.steps.last, range.steps.process)
      : lackOfTime(info, range);
    if (lack && model.runs.length === 1) return this.refuse(lack);
    this.held.textContent = heldOfRange(info, range);
    this.held.hidden = this.held.textContent === "";
    this.result.setAttribute("aria-busy", "true");
    try {
      if (this.tookMs > kSlowMs) await this.ask(range, abort.signal, ["events", this.chosen]);
      const began = performance.now();
      await this.ask(range, abort.signal);
      this.tookMs = performance.now() - began;
    } catch (error) {
      if (!abort.signal.aborted)
        this.result.replaceChildren(h("p", {class: "bad"}, (error as Error).message));
    } finally {
      if (!abort.signal.aborted) this.result.removeAttribute("aria-busy");
    }
  }

  private async ask(range: Range, signal: AbortSignal, tables?: string[]): Promise<void> {
    const {runs} = this.model;
    const having = runs.filter(({info}) => hasSteps(info, range));
    const without = runs.filter((run) => having.length > 0 && !having.includes(run));
    const answers = await Promise.all(
      (having.length > 0 ? having : runs).map((run) => ask(run, range, {tables}, signal)));
    const lacking = without.map(
      (run) => `${runLetter(this.model, run)} has no such steps: ${stepsThereAre(run.info)}`);
    if (!signal.aborted) this.show(range, answers, lacking);
  }

  private show(range: Range, answers: RangeAnswer[], lacking: string[]): void {
    const tables = tablesOf(answers);
    const words = range.steps ? stepsText(range.steps)
                              : `${moment(range.from, 1000)} – ${moment(range.to, 1000)}`;
    const notes = [...lacking, ...this.notesOf(answers)].join("; ");
    this.head.replaceChildren(h("b", {}, words), `, ${time(range.to - range.from)}`);
    const shown = tables.filter(({rows}) => rows.length > 0);
    if (shown.length === 0) {
      this.result.replaceChildren(h("p", {class: "muted"}, "Nothing ran in this stretch."));
      return;
    }
    const content = tabs("range", shown.map((table) => ({
      label: table.title,
      content: () => tableBox(table, () => this.wholeTable(range, table))
    })));
    this.result.replaceChildren(
      ...(notes ? [h("p", {class: "muted range-notes"}, notes)] : []), content);
    this.keepTab(content, shown.map(({key}) => key));
  }

  // Also the rows that were left out of it.
  private async wholeTable(range: Range, {key}: RangeTable): Promise<RangeTable> {
    const having = this.model.runs.filter(({info}) => hasSteps(info, range));
    const answers =
      await Promise.all(having.map((run) => ask(run, range, {tables: [key], all_rows: 1})));
    return tablesOf(answers)[0];
  }

  // Of two runs what is said of one alone with its letter.
  private notesOf(answers: RangeAnswer[]): string[] {
    const all = [...new Set(answers.flatMap(({notes}) => notes))];
    return all.flatMap((note) => {
      const of = answers.flatMap(({notes}, i) => notes.includes(note) ? [i] : []);
      return of.length === answers.length ? [note] : of.map((i) => `${"AB"[i]}: ${note}`);
    });
  }

  // The same table stays in front when the range changes.
  private keepTab(content: HTMLElement, keys: string[]): void {
    const buttons = [...content.querySelectorAll<HTMLElement>("[role=tab]")];
    buttons[Math.max(0, keys.indexOf(this.chosen))]?.click();
    buttons.forEach((button, i) => button.addEventListener("click", () => (this.chosen = keys[i])));
  }
}

function stepsText({first, last, of}: NonNullable<Range["steps"]>): string {
  const whose = of ? ` of ${of}` : "";
  return first === last ? `Step ${first}${whose}` : `Steps ${first} – ${last}${whose}`;
}

function hasSteps({steps}: RunAnswer, {steps: asked}: Range): boolean {
  const numbers = steps[asked?.process ?? 0]?.number ?? [];
  return !asked || (numbers.includes(asked.first) && numbers.includes(asked.last));
}

async function ask(run: RunView, range: Range, wanted: {tables?: string[]; all_rows?: number},
  signal?: AbortSignal): Promise<RangeAnswer> {
  return run.source.call<RangeAnswer>("range", {...partOf(range, run.offset), ...wanted}, signal);
}

function isOfOneStep({first_step: first, last_step: last, processes = []}: RangeAnswer): boolean {
  if (processes.length === 0) return first !== undefined && first === last;
  return processes.every((one) => one.first_step === one.last_step);
}

// Of two runs beside each other.
function tablesOf(answers: RangeAnswer[]): RangeTable[] {
  const oneStep = answers.every(isOfOneStep);
  const [a, b] = answers.map((one) => oneStep ? {...one, tables: one.tables.map(ofOneStep)} : one);
  if (!b) return a.tables;
  return a.tables.map((table) => {
    const other = b.tables.find(({key}) => key === table.key);
    return other ? joined(table, other) : table;
  });
}
