// The whole run in a few lines, with the part that is on the screen and where the search found
// something. Dragging over it goes there.
import type {Track} from "../data/track";
import type {RowRange} from "../data/protocol";
import type {Fills} from "../draw/fills";
import type {Inks} from "../draw/inks";
import {paintItems} from "../draw/strips";
import type {Model, RunView} from "../state/model";
import {CanvasLayer} from "./canvas_layer";

const kHeight = 40;
const kDensity = 10;  // px at the bottom, while a search is shown
const kKinds = ["stages", "steps", "phases", "idle", "stream", "thread"];  // what is worth a line
const kMostLines = 5;

export class Minimap {
  readonly layer = new CanvasLayer("minimap");
  dirty = true;  // what is behind the window
  private readonly strip = document.createElement("canvas");

  constructor(private readonly model: Model) {}

  resize(width: number): void {
    this.layer.resize(width, kHeight);
  }

  // The first track of each kind, of each run.
  private lines(): Track[] {
    const {model} = this;
    const found = kKinds.flatMap(
      (kind) => model.runs.flatMap(
        (run) =>
          model.tracks.find((track) => track.run === run.index && track.kind === kind) ?? []));
    return found.slice(0, kMostLines);
  }

  ask(): void {
    const {model, layer} = this;
    const pixel = (model.whole.to - model.whole.from) / (layer.width * layer.scale);
    for (const run of model.runs) {
      const rows = this.lines()
                     .filter((track) => track.run === run.index)
                     .map((track): RowRange => [track.info!.id, 0, 1]);
      run.overview.want(this.spanOf(run), pixel, rows);
    }
  }

  private spanOf(run: RunView): {from: number; to: number} {
    return {from: this.model.whole.from - run.offset, to: this.model.whole.to - run.offset};
  }

  draw(fills: Fills): void {
    const {layer} = this;
    const lines = this.lines();
    const room = this.model.found ? kHeight - kDensity : kHeight;
    const each = Math.max(2, Math.floor((room - 4) / Math.max(1, lines.length)));
    const {width} = layer.canvas;
    if (this.dirty || this.strip.width !== width) this.paint(lines, width, fills);
    const target = layer.clear();
    target.imageSmoothingEnabled = false;
    lines.forEach((_, i) => target.drawImage(
                    this.strip, 0, i, width, 1, 0, 2 + i * each, layer.width, each - 1));
    this.drawDensity(target, fills.inks, room);
    this.drawWindow(target, fills.inks);
  }

  private paint(lines: Track[], width: number, fills: Fills): void {
    this.dirty = false;
    const image = new ImageData(width, Math.max(1, lines.length));
    const pixels = new Uint32Array(image.data.buffer);
    lines.forEach((track, i) => {
      const run = this.model.runOf(track);
      const {from, to} = this.spanOf(run);
      const nsPerPixel = (to - from) / width;
      for (const {data} of run.overview.itemsOf(track.info!.id, 0, {from, to}, nsPerPixel))
        paintItems(pixels, i * width, data, {from, nsPerPixel, first: 0, end: width},
          fills.of(run, track, data));
    });
    this.strip.width = width;
    this.strip.height = image.height;
    this.strip.getContext("2d")!.putImageData(image, 0, 0);
  }

  private drawDensity(target: CanvasRenderingContext2D, inks: Inks, top: number): void {
    const {found} = this.model;
    if (!found || found.most === 0) return;
    target.fillStyle = inks.page.bad;
    for (const {run, bins, from, to} of found.density) {
      const [begin, end] = [this.xOf(from + run.offset), this.xOf(to + run.offset)];
      const each = (end - begin) / bins.length;
      bins.forEach((count, i) => {
        if (count === 0) return;
        const height = Math.max(2, (count / found.most) * (kDensity - 1));
        target.fillRect(begin + i * each, top + kDensity - height, Math.max(1, each), height);
      });
    }
  }

  private drawWindow(target: CanvasRenderingContext2D, inks: Inks): void {
    const {view} = this.model;
    const [from, to] = [this.xOf(view.from), this.xOf(view.to)];
    target.fillStyle = inks.page.ground;
    target.globalAlpha = 0.55;
    target.fillRect(0, 0, from, kHeight);
    target.fillRect(to, 0, this.layer.width - to, kHeight);
    target.globalAlpha = 1;
    target.strokeStyle = inks.page.accent;
    target.lineWidth = 1.5;
    target.strokeRect(from + 0.75, 0.75, Math.max(2, to - from - 1.5), kHeight - 1.5);
  }

  private xOf(time: number): number {
    const {from, to} = this.model.whole;
    return Math.min(
      this.layer.width, Math.max(0, ((time - from) / (to - from)) * this.layer.width));
  }

  timeAt(x: number): number {
    const {from, to} = this.model.whole;
    return from + (x / this.layer.width) * (to - from);
  }
}
