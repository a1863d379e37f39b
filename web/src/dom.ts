// Elements from code. Text reaches the page only as text nodes and attributes: names in a recording
// come from the profiled program and are not trusted, so nothing here ever parses HTML.

import {codePieces} from "./format";

type Child = Node|string|null|undefined|false;
type Attributes = Record<string, string|number|boolean|EventListener|null|undefined>;

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(attribute, value);
    } else if (attribute === "style") {
      // As an attribute it would be refused where the page may have no inline styles.
      (element as unknown as ElementCSSInlineStyle).style.cssText = String(value);
    } else {
      element.setAttribute(attribute, value === true ? "" : String(value));
    }
  }
  for (const child of children)
    if (child) element.append(child);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// A sentence whose `code` is set as such.
export function prose(text: string): Child[] {
  return codePieces(text).map(
    (piece) => piece.code ? h("code", {}, piece.text) : document.createTextNode(piece.text));
}

// A long name on one line: without room for it the middle is hidden and both ends stay readable.
// Searching and copying (copyWholeNames) give the whole name.
const kTailLength = 14;

export function longName(text: string): HTMLElement {
  return elided(text, "name");
}

// A name that is shown as `label`; hovering and copying give the name.
export function labelledName(text: string, label: string|undefined): HTMLElement {
  if (!label || label === text) return longName(text);
  return h("span", {class: "name labelled", title: text}, label);
}

// The same in the font of running text.
export function longText(text: string): HTMLElement {
  return elided(text, "label");
}

function elided(text: string, kind: string): HTMLElement {
  if (text.length <= 2 * kTailLength) return h("span", {class: kind, title: text}, text);
  const head = text.slice(0, -kTailLength);
  const tail = text.slice(-kTailLength);
  return h(
    "span",
    {class: `${kind} elided`, title: text},
    h("span", {class: "head"}, head),
    h("span", {class: "tail"}, tail),
  );
}

// The two ends of a long name are separate boxes, and browsers copy a line end between boxes.
export function copyWholeNames(): void {
  document.addEventListener("copy", (event) => {
    const selection = document.getSelection();
    if (!selection || !event.clipboardData) return;
    let text = selection.toString();
    for (const name of document.querySelectorAll<HTMLElement>(".elided, .labelled")) {
      if (selection.containsNode(name, true)) text = text.split(name.innerText).join(name.title);
    }
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  });
}
