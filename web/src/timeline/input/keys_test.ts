import assert from "node:assert/strict";
import {test} from "node:test";
import type {Pressed} from "./keys";
import {actionOf, isTaken, kKeys} from "./keys";

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

test("keys belong to what types, Enter to what it presses, arrows to tabs", () => {
  const at = (tag: string, more: object = {}) =>
    ({tag, type: "", role: "", editable: false, ...more});
  assert.ok(isTaken("w", at("INPUT", {type: "text"})));
  assert.ok(isTaken("w", at("INPUT", {type: "search"})));
  assert.ok(isTaken("w", at("DIV", {editable: true})));
  assert.ok(!isTaken("w", at("INPUT", {type: "checkbox"})));
  for (const key of ["w", "]", "ArrowLeft", "Escape"])
    for (const tag of ["BODY", "BUTTON", "A"]) assert.ok(!isTaken(key, at(tag)), `${key} ${tag}`);
  for (const tag of ["BUTTON", "A", "SUMMARY"]) assert.ok(isTaken("Enter", at(tag)), tag);
  assert.ok(!isTaken("Enter", at("BODY")));
  assert.ok(isTaken("ArrowLeft", at("BUTTON", {role: "tab"})));
  assert.ok(isTaken("ArrowUp", at("DIV", {role: "separator"})));
  assert.ok(!isTaken("n", at("BUTTON", {role: "tab"})));
});
