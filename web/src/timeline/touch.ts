// Whether fingers are what the page is used with: who has no keys is told of none.
export const kTouch = globalThis.matchMedia?.("(pointer: coarse)").matches ?? false;
