// All visible rows as lines of pixels in one small canvas, each stretched to its height on the big
// one: the number of drawing calls is that of rows, not of events.
import type {Samples} from "../data/items";
import type {Layer} from "../data/view_cache";
import type {Items} from "../data/items";
import type {Lane} from "../state/layout";
import type {Model, RunView} from "../state/model";
import type {Ink} from "./colors";
import type {Inks} from "./inks";
import {curve, paintItems} from "./strips";
import type {StripView} from "./strips";

// An event that is wide enough for more than its colour.
export interface Box {
  run: RunView;
  lane: Lane;
  items: Items;
  item: number;
  left: number;  // css px, may be off the screen
  right: number;
  ink: Ink;
  dimmed: boolean;
}

const kWide = 24;  // css px from which a box is handed on for its label

export class StripCanvas {
  private readonly strips = document.createElement("canvas");
  private readonly context = this.strips.getContext("2d", {alpha: true})!;
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);
  painted = 0;  // items in the last frame

  // Draws the lanes and returns the boxes with room for a label.
  draw(target: CanvasRenderingContext2D, model: Model, lanes: Lane[], inks: Inks, scale: number,
    matches: ((run: RunView, name: number) => boolean)|null): Box[] {
    const {canvas} = target;
    const width = canvas.width;
    this.resize(width, Math.max(1, lanes.length));
    this.pixels.fill(0);
    this.painted = 0;
    const boxes: Box[] = [];
    const curves: (() => void)[] = [];
    lanes.forEach((lane, i) => {
      const run = model.runOf(lane.block.track);
      if (lane.block.track.info?.counter)
        curves.push(() => this.drawCounter(target, model, run, lane, inks, scale));
      else this.paint(model, run, lane, i * width, inks, scale, matches, boxes);
    });
    this.context.putImageData(this.image, 0, 0);
    target.clearRect(0, 0, width, canvas.height);
    target.imageSmoothingEnabled = false;
    lanes.forEach(({block, y, height}, i) => {
      if (block.track.info?.counter) return;
      const [top, bottom] = [Math.round(y * scale), Math.round((y + height) * scale)];
      target.drawImage(this.strips, 0, i, width, 1, 0, top, width, bottom - top);
    });
    for (const drawCurve of curves) drawCurve();
    return boxes;
  }

  private resize(width: number, rows: number): void {
    if (this.image.width === width && this.image.height >= rows &&
      this.image.height < 2 * rows + 16)
      return;
    this.image = new ImageData(width, rows + 8);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.strips.width = width;
    this.strips.height = rows + 8;
  }

  private paint(model: Model, run: RunView, lane: Lane, offset: number, inks: Inks, scale: number,
    matches: ((run: RunView, name: number) => boolean)|null, boxes: Box[]): void {
    const {view} = model;
    const nsPerPixel = view.nsPerPixel / scale;
    const from = view.from - run.offset;
    const span = {from, to: view.to - run.offset};
    const track = lane.block.track;
    const ink = inks.of(run, track);
    for (const layer of run.cache.itemsOf(track.info!.id, lane.depth, span, nsPerPixel)) {
      const {data} = layer;
      this.painted += data.count;
      const {first, end} = pixelsOf(layer, from, nsPerPixel, this.image.width);
      const fill = (i: number): number => {
        const one = ink(data.name[i], data.ref[i]);
        return matches && !matches(run, data.name[i]) ? inks.dimmed(one) : one.fill;
      };
      const wide = paintItems(this.pixels, offset, data, {from, nsPerPixel, first, end}, fill,
        inks.ground, kWide * scale);
      const [a, b] = [(data.from - from) / nsPerPixel / scale, data.step / nsPerPixel / scale];
      for (const item of wide) {
        const left = a + b * data.start[item];
        boxes.push({
          run,
          lane,
          items: data,
          item,
          left: Math.max(left, first / scale),
          right: Math.min(left + b * data.width[item], end / scale),
          ink: ink(data.name[item], data.ref[item]),
          dimmed: matches ? !matches(run, data.name[item]) : false,
        });
      }
    }
  }

  private drawCounter(target: CanvasRenderingContext2D, model: Model, run: RunView, lane: Lane,
    inks: Inks, scale: number): void {
    const {view} = model;
    const nsPerPixel = view.nsPerPixel / scale;
    const from = view.from - run.offset;
    const {info} = lane.block.track;
    const [bottom, height] = [Math.round((lane.y + lane.height) * scale), lane.height * scale];
    for (const layer of run.cache.samplesOf(
           info!.id, lane.depth, {from, to: view.to - run.offset}, nsPerPixel)) {
      const part: StripView = {
        from,
        nsPerPixel,
        ...pixelsOf(layer as Layer<Samples>, from, nsPerPixel, target.canvas.width)
      };
      this.painted += layer.data.count;
      const heights = curve(layer.data, part, info!.counter!.max);
      target.fillStyle = inks.page.accent;
      target.globalAlpha = 0.35;
      fillCurve(target, heights, 0, part, bottom, height);
      target.globalAlpha = 1;
      fillCurve(target, heights, 1, part, bottom, height);
    }
  }
}

// The area under the least values (which = 0), or the line along the least and greatest (1).
function fillCurve(target: CanvasRenderingContext2D, heights: Float32Array, which: 0|1,
  {first, end}: StripView, bottom: number, height: number): void {
  target.beginPath();
  for (let x = first; x < end; ++x) {
    const least = Math.round(heights[2 * x] * height);
    const most = Math.round(heights[2 * x + 1] * height);
    const before = x > first ? Math.round(heights[2 * x - 1] * height) : least;
    if (which === 0) {
      if (most > 0) target.rect(x, bottom - most, 1, most);
    } else {
      const [low, high] = [Math.min(least, before), Math.max(most, before)];
      target.rect(x, bottom - high, 1, Math.max(1, high - low));
    }
  }
  target.fill();
}

function pixelsOf(layer: {from: number; to: number}, from: number, nsPerPixel: number,
  width: number): {first: number; end: number} {
  const place = (time: number): number =>
    Math.min(width, Math.max(0, Math.round((time - from) / nsPerPixel)));
  return {first: place(layer.from), end: place(layer.to)};
}
