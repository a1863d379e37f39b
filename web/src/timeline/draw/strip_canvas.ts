// All visible rows as lines of pixels in one small canvas, each stretched to its height on the big
// one: the number of drawing calls is that of rows, not of events.
import type {Items} from "../data/items";
import type {Lane} from "../state/layout";
import type {Model, RunView} from "../state/model";
import type {Ink} from "./colors";
import type {Fills} from "./fills";
import type {Inks} from "./inks";
import {curve, paintCurve, paintItems} from "./strips";

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
  private readonly context = this.strips.getContext("2d", {alpha: false})!;
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);
  private curves = new ImageData(1, 1);
  painted = 0;  // items in the last frame

  // Draws the lanes and returns the boxes with room for a label.
  draw(target: CanvasRenderingContext2D, model: Model, lanes: Lane[], fills: Fills,
    scale: number): Box[] {
    const {canvas} = target;
    const width = canvas.width;
    this.resize(width, Math.max(1, lanes.length));
    this.pixels.fill(fills.inks.ground);
    this.painted = 0;
    const boxes: Box[] = [];
    lanes.forEach((lane, i) => {
      if (!lane.block.track.info?.counter) this.paint(model, lane, i * width, fills, scale, boxes);
    });
    this.context.putImageData(this.image, 0, 0);
    target.fillStyle = fills.inks.page.surface;
    target.fillRect(0, 0, width, canvas.height);
    target.imageSmoothingEnabled = false;
    lanes.forEach((lane, i) => {
      const {block, y, height, top: shown} = lane;
      const [top, from, bottom] = [y, shown, y + height].map((place) => Math.round(place * scale));
      if (bottom <= from) return;
      if (block.track.info?.counter)
        this.drawCounter(target, model, lane, top, bottom - top, fills.inks, scale);
      else target.drawImage(this.strips, 0, i, width, 1, 0, from, width, bottom - from);
    });
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

  private paint(
    model: Model, lane: Lane, offset: number, fills: Fills, scale: number, boxes: Box[]): void {
    const {view} = model;
    const track = lane.block.track;
    const run = model.runOf(track);
    const nsPerPixel = view.nsPerPixel / scale;
    const from = view.from - run.offset;
    const span = {from, to: view.to - run.offset};
    const ink = fills.inks.of(run, track);
    for (const layer of run.cache.itemsOf(track.info!.id, lane.depth, span, nsPerPixel)) {
      const {data} = layer;
      this.painted += data.count;
      const {first, end} = pixelsOf(layer, from, nsPerPixel, this.image.width);
      const wide = paintItems(this.pixels, offset, data, {from, nsPerPixel, first, end},
        fills.of(run, track, data), kWide * scale);
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
          dimmed: fills.isDimmed(run, data.name[item]),
        });
      }
    }
  }

  private drawCounter(target: CanvasRenderingContext2D, model: Model, lane: Lane, top: number,
    height: number, inks: Inks, scale: number): void {
    const {view} = model;
    const {info} = lane.block.track;
    const run = model.runOf(lane.block.track);
    const nsPerPixel = view.nsPerPixel / scale;
    const from = view.from - run.offset;
    const {width} = target.canvas;
    const image = this.curveImage(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(inks.ground);
    const span = {from, to: view.to - run.offset};
    for (const layer of run.cache.samplesOf(info!.id, lane.depth, span, nsPerPixel)) {
      const part = {from, nsPerPixel, ...pixelsOf(layer, from, nsPerPixel, width)};
      this.painted += layer.data.count;
      const heights = curve(layer.data, part, info!.counter!.max);
      paintCurve(pixels, width, height, heights, part, inks.area, inks.accent);
    }
    const hidden = Math.round(lane.top * scale) - top;
    target.putImageData(image, 0, top, 0, hidden, width, height - hidden);
  }

  // One picture for all counters of a frame: they are as high as one another.
  private curveImage(width: number, height: number): ImageData {
    if (this.curves.width !== width || this.curves.height !== height)
      this.curves = new ImageData(width, height);
    return this.curves;
  }
}

function pixelsOf(layer: {from: number; to: number}, from: number, nsPerPixel: number,
  width: number): {first: number; end: number} {
  const place = (time: number): number =>
    Math.min(width, Math.max(0, Math.round((time - from) / nsPerPixel)));
  return {first: place(layer.from), end: place(layer.to)};
}
