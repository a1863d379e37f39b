import assert from "node:assert/strict";
import {test} from "node:test";
import type {Pressed} from "./keys";
import {actionOf, kKeys} from "./keys";

const press = (code: string, key: string, more: Partial<Pressed> = {}): Pressed =>
  ({code, key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more});

test("W A S D go by place, whatever is printed on them", () => {
  assert.equal(actionOf(press("KeyW", "z")), "zoom_in");
  assert.equal(actionOf(press("KeyA", "q")), "pan_left");
});

test("signs go by what is printed", () => {
  assert.equal(actionOf(press("Digit7", "/", {shiftKey: true})), "search");
  assert.equal(actionOf(press("Minus", "?", {shiftKey: true})), "help");
});

test("shift tells apart, and the browser keeps its own keys", () => {
  assert.equal(actionOf(press("KeyN", "N", {shiftKey: true})), "previous_same");
  assert.equal(actionOf(press("KeyF", "f", {ctrlKey: true})), null);
  assert.equal(actionOf(press("KeyS", "s", {metaKey: true})), null);
  assert.equal(actionOf(press("KeyD", "d", {altKey: true})), null);
  assert.equal(actionOf(press("KeyP", "p", {ctrlKey: true})), "tracks");
});

test("no key does two things", () => {
  const spelled = kKeys.map(({shown}) => shown);
  assert.equal(new Set(spelled).size, spelled.length);
});
