// Two runs: what each is, which step of B lies under which of A, and the differences that
// `batchlight diff` tells.
import {h, longText} from "../../dom";
import {time} from "../../format";
import {tabs} from "../../views/tabs";
import type {CompareAnswer, RangeTable} from "../data/protocol";
import {middlePair} from "../data/steps";
import type {Model} from "../state/model";
import {headOf, runLetter} from "../state/places";
import type {Span} from "../state/viewport";
import {tableBox} from "./table_box";

// A time and what it changed by are compared at a glance.
function inOneUnit({columns, rows, ...table}: RangeTable): RangeTable {
  const times = columns.map(({unit}) => unit === "ns");
  const amounts =
    rows.flatMap((row) => row.map((cell, i) => times[i] ? Math.abs(Number(cell ?? 0)) : 0));
  const largest = amounts.reduce((most, one) => Math.max(most, one), 0);
  const shared = columns.map((column, i) => times[i] ? {...column, largest} : column);
  return {...table, columns: shared, rows};
}

const kMeans =
  "Means of a step that counts (above: medians); the first row is what the others add up to.";

export class ComparePanel {
  readonly element = h("div", {class: "compare-panel"});
  private readonly said = h("span", {class: "muted", role: "status"});
  private readonly heads = h("dl", {class: "heads"});
  private commands: string[] = [];
  private pairs: {a: number; b: number}[] = [];
  private asked: number|undefined;  // to align at, a step of A
  private loaded = false;
  private aligned: number|undefined;  // at, a step of A

  // `onAlign` is told the step of A to show; null: what is shown stays. `asked`: a reader typed it.
  constructor(private readonly model: Model,
    private readonly onAlign: (step: Span|null, asked: boolean) => void) {
    this.pairs = this.sameNumbers();
    // Steps of a long run are found after its first picture.
    model.listen((change) => {
      if (change === "run") this.choose();
    });
    void this.load();
  }

  // The step of A that one of B stands below; undefined: they begin together.
  get step(): number|undefined {
    return this.aligned;
  }

  private async load(): Promise<void> {
    let shown: RangeTable[] = [];
    let [problem, what] = ["", ""];
    try {
      const {tables, steps, commands, problem: uncut} =
        await this.model.first.source.call<CompareAnswer>("compare");
      this.pairs = steps;
      this.commands = commands;
      what = uncut ? `Of the whole runs: ${uncut}.` : kMeans;
      shown = tables.filter(({rows}) => rows.length > 0).map(inOneUnit);
    } catch (error) {
      problem = (error as Error).message;
      this.pairs = this.sameNumbers();
    }
    this.drawHeads();
    const parts: HTMLElement[] = [this.heads, this.form()];
    if (problem) parts.push(h("p", {class: "bad"}, problem));
    if (shown.length > 0) {
      parts.push(h("p", {class: "muted"}, what));
      const panels = shown.map((table) => ({label: table.title, content: () => tableBox(table)}));
      parts.push(tabs("compare", panels));
    }
    this.element.replaceChildren(...parts);
    this.loaded = true;
    this.choose();
  }

  // Where a link, or a reader who did not wait, asked for; else in the middle of what counts in
  // both.
  private choose(): void {
    if (this.aligned !== undefined || !this.loaded) return;
    const {pairs} = this;
    const [a, b] = this.model.runs.map(({info}) => info.steps[0]);
    const pair = pairs.find((one) => one.a === this.asked) ?? middlePair(pairs, a, b);
    if (pair) this.align(pair);
    else this.said.textContent = "the runs have no steps in common: they begin together";
  }

  // How long each is, and what was started.
  drawHeads(): void {
    const {runs} = this.model;
    this.heads.replaceChildren(...runs.flatMap(
      (run, i) => [h("dt", {}, runLetter({runs}, run)),
        h("dd", {}, headOf(run), h("div", {class: "muted"}, longText(this.commands[i] ?? "")))]));
  }

  // At a step of A, if both runs have it: now, or when it is known which these are.
  alignAt(step: number): void {
    this.asked = step;
    const pair = this.pairs.find(({a}) => a === step);
    if (pair) this.align(pair);
  }

  // Steps of both runs with the same number.
  private sameNumbers(): {a: number; b: number}[] {
    const [a, b] = this.model.runs.map(({info}) => info.steps[0]?.number ?? []);
    const inB = new Set(b);
    return a.filter((number) => inB.has(number)).map((number) => ({a: number, b: number}));
  }

  private form(): HTMLElement {
    const input =
      h("input", {type: "text", inputmode: "numeric", "aria-label": "Align at step of A", size: 6});
    const submit = (event: Event): void => {
      event.preventDefault();
      const pair = this.pairs.find(({a}) => a === Number(input.value));
      if (pair) this.align(pair, true);
      else this.said.textContent = `no step ${input.value} in both runs`;
    };
    return h("form", {submit}, "Align at step ", input, " ",
      h("button", {type: "submit", class: "quiet"}, "Align"), " ", this.said);
  }

  // Puts the begins of two steps on one place of the screen.
  private align({a, b}: {a: number; b: number}, asked = false): void {
    const [runA, runB] = this.model.runs;
    const [stepsA, stepsB] = [runA.info.steps[0], runB.info.steps[0]];
    const i = stepsA?.number.indexOf(a) ?? -1;
    const j = stepsB?.number.indexOf(b) ?? -1;
    if (i < 0 || j < 0) return;
    this.asked = this.aligned = a;
    runB.offset = stepsA.from[i] + runA.offset - stepsB.from[j];
    const [longA, longB] = [stepsA.to[i] - stepsA.from[i], stepsB.to[j] - stepsB.from[j]];
    const first = this.said.textContent === "";
    this.said.textContent =
      `aligned at step ${a} of A (${time(longA)}) and ${b} of B (${time(longB)})`;
    const step = {from: stepsA.from[i] + runA.offset, to: stepsA.to[i] + runA.offset};
    this.onAlign(first || asked ? step : null, asked);
    this.model.changed("view");
  }
}
