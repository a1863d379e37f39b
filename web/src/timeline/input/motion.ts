// Moves the view to where it should be, softly: the eye follows a move and loses a jump. Who asked
// for less motion gets the jump.
import type {Model} from "../state/model";
import type {Span} from "../state/viewport";
import {panned, zoomed} from "../state/viewport";

const kSettleMs = 60;  // time in which two thirds of the way are done
const kNear = 1e-3;    // of the length

export class Motion {
  private target: Span;
  private last = 0;
  private moving = false;
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(private readonly model: Model) {
    this.target = model.view.span;
  }

  // Where the view is going; what keys change.
  get goal(): Span {
    return this.moving ? this.target : this.model.view.span;
  }

  zoom(at: number, factor: number): void {
    this.to(zoomed(this.goal, at, factor, this.model.whole));
  }

  pan(share: number): void {
    const {from, to} = this.goal;
    this.to(panned(this.goal, share * (to - from), this.model.whole));
  }

  // At once: for drags, which follow the hand.
  jump(span: Span): void {
    this.moving = false;
    this.model.show(span);
  }

  to(span: Span): void {
    if (this.still.matches) return this.jump(span);
    this.target = span;
    if (this.moving) return;
    this.moving = true;
    this.last = performance.now();
    requestAnimationFrame(() => this.step());
  }

  private step(): void {
    if (!this.moving) return;
    const now = performance.now();
    const share = 1 - Math.exp(-Math.max(8, now - this.last) / kSettleMs);
    this.last = now;
    const {view} = this.model;
    const {from, to} = this.target;
    const next = {
      from: view.from + share * (from - view.from),
      to: view.to + share * (to - view.to)
    };
    const off = Math.abs(next.from - from) + Math.abs(next.to - to);
    if (off < kNear * (to - from)) {
      this.moving = false;
      this.model.show(this.target);
      return;
    }
    this.model.show(next);
    requestAnimationFrame(() => this.step());
  }
}
