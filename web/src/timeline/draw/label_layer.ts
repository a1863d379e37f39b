// Names in the boxes, and lines over boxes of idle time: they are told apart without colours too.
import {counterText} from "../data/counter";
import type {Items} from "../data/items";
import {stepNumber} from "../data/steps";
import type {Lane} from "../state/layout";
import type {RunView} from "../state/model";
import type {Box} from "./strip_canvas";
import {kLeastLabelled, fitted, visiblePart} from "./labels";

const kPad = 4;
const kHidden = 4;         // px of a row that may be hidden without taking its label
const kMost = 600;         // labels in a frame
const kSeriesLine = 1.25;  // of the letters' height

// A step is called by its number, anything else by its name.
function labelOf(run: RunView, lane: Lane, items: Items, item: number): string|undefined {
  if (lane.block.track.kind === "steps") {
    const number = stepNumber(run, items.ref[item]);
    if (number !== undefined) return `step ${number}`;
  }
  return run.names.label(items.name[item]);
}

export class LabelLayer {
  private readonly letterWidths = new Map<string, number>();
  drawn = 0;
  font = "";

  draw(target: CanvasRenderingContext2D, boxes: readonly Box[], screen: number): void {
    target.font = this.font;
    target.textBaseline = "middle";
    this.drawn = 0;
    const letter = this.letterWidth(target);
    let fill = "";
    for (const {run, lane, items, item, left, right, ink, dimmed} of boxes) {
      const [from, to] = visiblePart(left, right, screen);
      if (lane.top > lane.y + kHidden) continue;
      if (to - from < kLeastLabelled || this.drawn >= kMost) continue;
      const name = labelOf(run, lane, items, item);
      if (!name) continue;
      const text = fitted(name, to - from - 2 * kPad, letter);
      if (!text) continue;
      const wanted = dimmed ? "#7f7f7f" : ink.text;
      if (wanted !== fill) target.fillStyle = fill = wanted;
      // Wide letters are squeezed rather than drawn over the next box.
      target.fillText(text, from + kPad, lane.y + lane.height / 2 + 0.5, to - from - kPad - 1);
      ++this.drawn;
    }
  }

  // What each row of a counter is and how high it is, legible over its line.
  series(
    target: CanvasRenderingContext2D, lanes: readonly Lane[], color: string, ground: string): void {
    target.font = this.font;
    target.textBaseline = "middle";
    for (const {block, depth, y, top} of lanes) {
      const {counter, series} = block.track.info ?? {};
      if (!counter || top > y + kHidden) continue;
      const height = Math.min(block.rowHeight, Math.ceil(kSeriesLine * parseFloat(this.font)));
      const text = `${series?.[depth] ?? ""}, 0 to ${counterText(counter.unit, counter.max)}`;
      target.globalAlpha = 0.8;
      target.fillStyle = ground;
      target.fillRect(0, y, target.measureText(text).width + 2 * kPad, height);
      target.globalAlpha = 1;
      target.fillStyle = color;
      target.fillText(text, kPad, y + height / 2);
    }
  }

  // Sloping lines over idle time.
  hatch(target: CanvasRenderingContext2D, boxes: readonly Box[], color: string): void {
    target.strokeStyle = color;
    target.globalAlpha = 0.35;
    target.lineWidth = 1;
    target.beginPath();
    for (const {run, lane, items, item, left, right} of boxes) {
      const palette = lane.block.track.info?.palette ?? "";
      if (!run.palettes.get(palette)?.get(items.name[item])?.idle) continue;
      const [from, to] = [Math.max(left, 0), right - 1];
      for (let x = Math.ceil(from / 7) * 7; x + 4 < to; x += 7) {
        target.moveTo(x, lane.y + lane.height);
        target.lineTo(x + 4, lane.top);
      }
    }
    target.stroke();
    target.globalAlpha = 1;
  }

  private letterWidth(target: CanvasRenderingContext2D): number {
    let width = this.letterWidths.get(target.font);
    if (width === undefined) {
      const sample = "aten::linear_backward_Kernel";
      width = (target.measureText(sample).width / sample.length) * 1.04;
      this.letterWidths.set(target.font, width);
    }
    return width;
  }
}
