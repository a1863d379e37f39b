// First and last step as numbers: selects like dragging in the chart, without a pointer.
import type {Steps} from "../data";
import {h} from "../dom";
import type {Range} from "../selection";

export class RangeForm {
  readonly element: HTMLElement;
  private readonly from = h("input", {type: "number", "aria-label": "First step", step: 1});
  private readonly to = h("input", {type: "number", "aria-label": "Last step", step: 1});
  private steps: Steps|null = null;

  constructor(private readonly onSelect: (range: Range) => void) {
    const change = (): void => this.read();
    this.from.addEventListener("change", change);
    this.to.addEventListener("change", change);
    this.element = h("div", {class: "range-form"}, "Steps ", this.from, " to ", this.to);
  }

  show(steps: Steps, range: Range|null): void {
    this.steps = steps;
    const {number, group} = steps;
    const last = number.length - 1;
    const shown = range ?? {first: 0, last};
    this.from.value = String(number[shown.first]);
    this.to.value = String(number[shown.last] + group - 1);
    for (const input of [this.from, this.to]) {
      input.min = String(number[0]);
      input.max = String(number[last] + group - 1);
    }
  }

  private read(): void {
    if (this.steps)
      this.onSelect(rangeOf(this.steps.number, Number(this.from.value), Number(this.to.value)));
  }
}

// The entries that hold the steps numbered `a` to `b`; the nearest ones if there are none.
export function rangeOf(number: readonly number[], a: number, b: number): Range {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  let first = 0;
  while (first + 1 < number.length && number[first + 1] <= low) ++first;
  let last = first;
  while (last + 1 < number.length && number[last + 1] <= high) ++last;
  return {first, last};
}
