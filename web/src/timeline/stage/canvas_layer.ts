// A canvas as large as its box on the screen, in device pixels. Never larger than the window:
// browsers refuse tall canvases.
import {h} from "../../dom";

export class CanvasLayer {
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
  width = 1;  // css px
  height = 1;
  scale = 1;  // device pixels in a css px
  empty = false;

  constructor(name: string) {
    this.canvas = h("canvas", {class: name, "aria-hidden": "true"});
    this.context = this.canvas.getContext("2d")!;
  }

  resize(width: number, height: number): void {
    const scale = window.devicePixelRatio || 1;
    const [w, hgt] =
      [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== hgt) this.canvas.height = hgt;
    this.width = width;
    this.height = height;
    this.scale = scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  // An empty canvas in css pixels.
  clear(): CanvasRenderingContext2D {
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.empty = true;
    this.context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    return this.context;
  }
}
