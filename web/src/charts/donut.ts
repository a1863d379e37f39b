// Shares of a whole as a ring, clockwise from the top, with words in the middle. Only for the eye:
// a table beside it has the same numbers.
import {svg} from "../dom";

export interface Slice {
  label: string;  // shown on hovering
  share: number;  // of the whole, 0 to 1
  color: string;  // CSS
}

const kRadius = 40;
const kThickness = 17;
const kGap = 0.4;  // between slices, percent of the ring

export function donut(slices: readonly Slice[], middle: string, below: string): SVGSVGElement {
  let before = 0;
  const ring = slices.map(({label, share, color}) => {
    const percent = 100 * share;
    const slice = svg(
      "circle",
      {
        r: kRadius,
        pathLength: 100,
        "stroke-dasharray": `${Math.max(0.1, percent - kGap)} 100`,
        "stroke-dashoffset": -before,
        style: `stroke:${color};stroke-width:${kThickness}`,
      },
      svg("title", {}, label),
    );
    before += percent;
    return slice;
  });
  return svg(
           "svg",
           {class: "donut", viewBox: "-50 -50 100 100", "aria-hidden": "true"},
           svg("g", {transform: "rotate(-90)"}, ...ring),
           svg("text", {class: "donut-middle", y: 1}, middle),
           svg("text", {class: "donut-below", y: 12}, below),
           ) as SVGSVGElement;
}
