import assert from "node:assert/strict";
import {test} from "node:test";
import {colorOfName, contrast, inkOf, kNameColors, nameInks, oklch, packed, unpacked} from "./colors";

test("labels can be read on all colours of names, in both themes", () => {
  for (const dark of [false, true]) {
    const inks = nameInks(dark);
    assert.equal(new Set(inks.map(({fill}) => fill)).size, kNameColors);
    for (const {fill, text} of inks)
      assert.ok(
        contrast(fill, text === "#ffffff" ? 0xffffffff : 0xff000000) >= 4.5, `${unpacked(fill)}`);
  }
});

test("whatever the colour, black or white can be read on it", () => {
  for (let grey = 0; grey < 256; ++grey) {
    const {fill, text} = inkOf(packed([grey, grey, grey]));
    assert.ok(contrast(fill, text === "#ffffff" ? 0xffffffff : 0xff000000) >= 4.5);
  }
});

test("OKLCH comes out as sRGB", () => {
  assert.deepEqual(oklch(1, 0, 0), [255, 255, 255]);
  assert.deepEqual(oklch(0, 0, 0), [0, 0, 0]);
  assert.deepEqual(oklch(0.628, 0.2577, 29.23), [255, 0, 0]);
});

test("a name has one colour, and numbered layers look alike", () => {
  assert.equal(colorOfName("aten::mm"), colorOfName("aten::mm"));
  assert.equal(colorOfName("layers.0.fc"), colorOfName("layers.11.fc"));
  const names = Array.from(
    {length: 200}, (_, i) => `kernel_${String.fromCharCode(97 + (i % 26))}${"x".repeat(i % 9)}`);
  assert.ok(new Set(names.map(colorOfName)).size > 16);
});
