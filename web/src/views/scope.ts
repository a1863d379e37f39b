// The scope of the means in the page's trees and lists: the steps that the reader selects in the
// step chart, of all ranks of the job or of the one picked here. Each view that asks for `elements`
// shows the same picker and is told of every change.
import type {PageData, Steps} from "../data";
import {h} from "../dom";
import {count} from "../format";
import {meanStep} from "../selection";
import {coarseness, stepsOf, sumTree, timesOf} from "../tree";
import type {StepRange} from "../step_bins";
import type {TreeSums} from "../tree";

// From how many steps of the run the means are; of selected ones it is not told.
export function fromSteps({from_steps}: Pick<PageData, "from_steps">, range: StepRange): string {
  return from_steps && !range ? `, ${from_steps}` : "";
}

export class Scope {
  sums: TreeSums|null;
  private range: StepRange = null;
  private label = "";
  private rank: number|null = null;  // of Tree.ranks; null: all together
  private readonly listeners: ((sums: TreeSums) => void)[] = [];
  private readonly shown: {sentence: HTMLElement; picker: HTMLSelectElement | null}[] = [];

  constructor(private readonly page: PageData) {
    this.sums = page.tree ? sumTree(page.tree, null) : null;
  }

  onChange(listener: (sums: TreeSums) => void): void {
    this.listeners.push(listener);
  }

  // Steps by their place in the run, and what to call them; null: those that count.
  selectSteps(range: StepRange, label: string): void {
    this.range = range;
    this.label = label;
    this.change();
  }

  // Of all ranks together, as where the longest calls are.
  get isOfAllRanks(): boolean {
    return this.rank === null;
  }

  // By place in PageData.training; for a rank that the page does not hold, all ranks together are
  // shown.
  selectRank(rank: number|null): void {
    this.rank = rank !== null && rank < this.names.length ? rank : null;
    this.change();
  }

  // One sentence that says what the numbers are, before what a view adds to it, and the picker
  // where there is a choice.
  elements(more: string): HTMLElement[] {
    const picker = this.names.length > 0 ? this.picker() : null;
    const sentence = h("span");
    this.shown.push({sentence, picker});
    this.say();
    const label =
      picker && h("label", {class: "picker rank-picker"}, `${capital(this.word)} `, picker);
    const all = [h("p", {class: "lead"}, sentence, more), this.leftOut(), label];
    return all.filter((element): element is HTMLElement => element !== null);
  }

  private get names(): string[] {
    return this.page.tree?.ranks?.map(({name}) => name) ?? [];
  }

  private get word(): string {
    const ranks = this.page.tree?.ranks ?? [];
    return ranks.every(({rank}) => rank >= 0) ? "rank" : "process";
  }

  private picker(): HTMLSelectElement {
    const all = h("option", {value: ""}, `All ${plural(this.word)} (mean)`);
    const options = this.names.map((name, i) => h("option", {value: i}, name));
    const picker = h("select", {}, all, ...options);
    picker.addEventListener(
      "change", () => this.selectRank(picker.value === "" ? null : Number(picker.value)));
    return picker;
  }

  private leftOut(): HTMLElement|null {
    const left = this.page.tree?.ranks_left_out ?? 0;
    if (left === 0) return null;
    const held = `The page holds the first ${count(this.names.length)} of ${
      count(this.names.length + left)} ${plural(this.word)} apart; any one: `;
    return h("p", {class: "muted"}, held, h("code", {}, "batchlight report --rank N"));
  }

  private change(): void {
    const {tree} = this.page;
    if (!tree) return;
    this.sums = sumTree(tree, this.range, this.rank);
    const steps = stepsOf(timesOf(tree, this.rank), this.range);
    if (steps) this.sums.step_ns = meanStep(this.processes, steps.first, steps.last);
    this.say();
    for (const listener of this.listeners) listener(this.sums);
  }

  private get processes(): Steps[] {
    const {training} = this.page;
    const chosen = this.rank === null ? training : [training[this.rank]];
    return chosen.map(({tracks}) => tracks[0]);
  }

  private say(): void {
    for (const {sentence, picker} of this.shown) {
      sentence.replaceChildren(...this.words());
      if (picker) picker.value = this.rank === null ? "" : String(this.rank);
    }
  }

  private words(): (string|Node)[] {
    const {tree, training} = this.page;
    if (!tree?.per_step) return ["Of the whole run. "];
    const all = training.reduce((most, {tracks}) => Math.max(most, tracks[0].count), 0);
    const longest = coarseness(timesOf(tree, this.rank), this.range, all);
    const groups = longest > 0
      ? ` (known in groups of up to ${count(longest)} steps: all of those it touches)`
      : "";
    const steps = this.range ? h("mark", {}, this.label) : "the steps that count";
    return [
      "Per step, means over ", steps, groups, fromSteps(this.page, this.range), ...this.whose(),
      ". "
    ];
  }

  private whose(): (string|Node)[] {
    if (this.rank !== null) return [" of ", h("mark", {}, this.names[this.rank])];
    const processes = this.page.training.length;
    return processes < 2 ? [] : [`, mean of ${count(processes)} ${plural(this.word)}`];
  }
}

function plural(word: string): string {
  return word === "process" ? "processes" : `${word}s`;
}

function capital(word: string): string {
  return word[0].toUpperCase() + word.slice(1);
}
