// The axis of time: ticks from the start of the recording, steps by number, marks and notes.
import type {Inks} from "../draw/inks";
import {apart, finer, kTextPad, moment, namedSteps, placeBeside, placeOfMoment, tickDistance, ticks, touch} from "../draw/ruler";
import type {Label} from "../draw/ruler";
import type {Model} from "../state/model";
import type {Span} from "../state/viewport";
import {time} from "../../format";
import type {CanvasLayer} from "./canvas_layer";

const kHeight = 36;
const kTickPx = 110;
const kLabelGap = 8;
const kTimeGap = 4;    // from a tick to its time
const kMostFiner = 3;  // times that ticks are set closer
const kTimeY = 11;
const kStepY = 27;
const kShortTick = 3;  // below the names
const kArrowPx = 6;

export function rulerHeight({scale}: Model): number {
  return Math.round(kHeight * scale);
}

export function drawRuler(layer: CanvasLayer, model: Model, inks: Inks, font: string): void {
  const target = layer.clear();
  target.font = font;
  target.textBaseline = "middle";
  target.fillStyle = inks.page.line;
  const times = timesOf(target, model);
  for (const {x} of times) target.fillRect(Math.round(x), 0, 1, rulerHeight(model) / 2);
  target.fillStyle = inks.page.muted;
  for (const {x, text, shown} of times)
    if (shown) target.fillText(text, x + kTimeGap, kTimeY * model.scale);
  const named = drawSteps(target, model, inks);
  drawNotes(target, model, inks);
  drawRange(target, model, inks, named);
}

interface TickLabel {
  x: number;
  text: string;
  shown: boolean;
}

// Ticks and their times, none that the edge of the picture would cut. In a narrow picture they lie
// closer, until one has its time.
function timesOf(target: CanvasRenderingContext2D, model: Model): TickLabel[] {
  const {view} = model;
  let distance = distanceOf(target, model);
  for (let left = kMostFiner;; --left) {
    const labels = ticks(view.from, view.to, distance).map((tick) => {
      const text = moment(tick, distance);
      const x = view.x(tick);
      return {text, tick: x, x: x + kTimeGap, width: target.measureText(text).width};
    });
    const shown = apart(labels, 0, view.width);
    if (left === 0 || distance <= 1 || shown.some(Boolean))
      return labels.map(({tick, text}, i) => ({x: tick, text, shown: shown[i]}));
    distance = finer(distance);
  }
}

// Far into a recording and deep in a zoom a moment has many digits.
function distanceOf(target: CanvasRenderingContext2D, model: Model): number {
  const {view} = model;
  const room = kTickPx * model.scale;
  const distance = tickDistance(view.nsPerPixel, room);
  const label = target.measureText(moment(view.to, distance)).width + kTimeGap + kLabelGap;
  return label <= room ? distance : tickDistance(view.nsPerPixel, label);
}

// Numbers of steps; of many the round ones, and the long ones. Those that are shown.
function drawSteps(target: CanvasRenderingContext2D, model: Model, inks: Inks): Label[] {
  const {view, first: run} = model;
  const steps = run.info.steps[0];
  if (!steps || steps.count === 0) return [];
  target.fillStyle = inks.page.muted;
  const span = {from: view.from - run.offset, to: view.to - run.offset};
  const labels = namedSteps(steps, span, view.nsPerPixel).map((i) => {
    const text = `step ${steps.number[i]}`;
    const x = view.x(steps.from[i] + run.offset) + 4;
    return {text, x, width: target.measureText(text).width};
  });
  const begins = labels.map(({x}) => Math.round(x - 4));
  // The step that began before stays named until the next one's name needs its place.
  if (labels[0]?.x < 4) labels[0].x = 4;
  // The time of a mark stands among them.
  const mark = momentLabel(target, model, model.mark);
  const shown =
    apart(labels, kLabelGap, view.width).map((one, i) => one && !(mark && touch(labels[i], mark)));
  labels.forEach(({text, x}, i) => {
    // The line of a step without a name would go through another's name.
    const height = shown[i] ? rulerHeight(model) / 2 : kShortTick;
    target.fillRect(begins[i], rulerHeight(model) - height, 1, height);
    if (shown[i]) target.fillText(text, x, kStepY * model.scale);
  });
  return labels.filter((_, i) => shown[i]);
}

function drawNotes(target: CanvasRenderingContext2D, model: Model, inks: Inks): void {
  const {view} = model;
  for (const note of model.notes) {
    const x = Math.round(view.x(model.spanOfNote(note).from));
    target.fillStyle = inks.page.bad;
    target.beginPath();
    target.moveTo(x, 0);
    target.lineTo(x + 9, 4);
    target.lineTo(x, 8);
    target.fill();
    target.fillRect(x, 0, 1, rulerHeight(model));
  }
}

function momentText({from}: Span): string {
  return moment(from, 1);
}

// Where the time of a moment stands; null: it is none, or out of the picture.
function momentLabel(target: CanvasRenderingContext2D, {view}: Model, span: Span|null): Label|null {
  if (!span || span.from !== span.to) return null;
  const at = view.x(span.from);
  if (at < 0 || at > view.width) return null;
  const {width} = target.measureText(momentText(span));
  return {x: placeOfMoment(at, width, kArrowPx + 3, view.width), width};
}

// A moment has no width that is seen.
export function markInk({mark}: Model, {page}: Inks): string {
  return mark && mark.from === mark.to ? page.text : page.muted;
}

// Of a moment, which has no width of its own.
function arrow(target: CanvasRenderingContext2D, x: number, bottom: number, color: string): void {
  target.fillStyle = color;
  target.beginPath();
  target.moveTo(x - kArrowPx, bottom - kArrowPx);
  target.lineTo(x + kArrowPx, bottom - kArrowPx);
  target.lineTo(x, bottom);
  target.fill();
}

function drawRange(
  target: CanvasRenderingContext2D, model: Model, inks: Inks, named: readonly Label[]): void {
  const {view, scale} = model;
  const bottom = rulerHeight(model);
  for (const [span, color] of [
         [model.mark, markInk(model, inks)], [model.range, inks.page.accent]] as const) {
    if (!span) continue;
    const [from, to] = [Math.max(-1, view.x(span.from)), Math.min(view.width + 1, view.x(span.to))];
    if (to < 0 || from > view.width) continue;
    target.fillStyle = color;
    target.globalAlpha = 0.2;
    target.fillRect(from, 0, to - from, bottom);
    target.globalAlpha = 1;
    target.fillRect(from, bottom - 3, Math.max(1, to - from), 3);
    const isMoment = span.from === span.to;
    if (isMoment) arrow(target, from, bottom, color);
    const text = isMoment ? momentText(span) : time(span.to - span.from);
    const width = target.measureText(text).width;
    const x =
      isMoment ? momentLabel(target, model, span)?.x : placeBeside({from, to}, width, named);
    if (x === undefined) continue;
    target.fillStyle = inks.page.surface;
    target.fillRect(x - kTextPad, (kStepY - 8) * scale, width + 2 * kTextPad, 14 * scale);
    target.fillStyle = inks.page.text;
    target.fillText(text, x, (kStepY - 1) * scale);
  }
}
