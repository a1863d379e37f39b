// The box beside what is read in a chart: the same in every one, and read out when it changes.
import {h} from "../dom";

export function tipBox(): HTMLElement {
  return h("div", {class: "tip", role: "status", "aria-live": "polite"});
}

// To the right of x, or to its left where the chart of that width has no room there.
export function placeTip(tip: HTMLElement, x: number, width: number): void {
  const own = tip.offsetWidth;
  const at = x + own + 24 < width ? x + 12 : Math.max(0, x - own - 12);
  tip.style.left = `${at}px`;
}
