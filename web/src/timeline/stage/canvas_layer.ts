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

  // An opaque one costs less: nothing of what lies behind shows through.
  constructor(name: string, alpha = true) {
    this.canvas = h("canvas", {class: name, "aria-hidden": "true"});
    this.context = this.canvas.getContext("2d", {alpha})!;
  }

  // An empty canvas that lies over another is not drawn, and still under the pointer.
  hide(): void {
    this.canvas.style.opacity = this.empty ? "0" : "";
  }

  // Whether the canvas is another one now, which is empty.
  resize(width: number, height: number): boolean {
    const scale = window.devicePixelRatio || 1;
    const [w, hgt] =
      [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    const changed = this.canvas.width !== w || this.canvas.height !== hgt;
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== hgt) this.canvas.height = hgt;
    this.width = width;
    this.height = height;
    this.scale = scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    return changed;
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
