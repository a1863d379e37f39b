// Names in boxes. A name is cut by the mean width of its font's letters: measuring each one would
// cost more than drawing it.

export const kLeastLabelled = 40;  // px
const kEllipsis = "…";

// "train.py:14(train_step)": what samples of Python found.
const kPython = /^(?:.*\/)?([^/]*):\d+\((.+)\)$/;

// The function's own name: "vectorized_kernel" of "void at::native::vectorized_kernel<4,
// float>(int)", "train_step" of "train.py:14(train_step)"; of a module's own code the file.
export function shortName(symbol: string): string {
  const python = kPython.exec(symbol);
  if (python) return python[2] === "<module>" ? python[1] : python[2];
  const plain = symbol.startsWith("void ") ? symbol.slice(5) : symbol;
  const whole = plain.split("(anonymous namespace)::").join("");
  const end = whole.search(/[<(\[]/);
  const head = end > 0 ? whole.slice(0, end) : whole;
  return head.slice(head.lastIndexOf("::") + 1).replace(/^:/, "") || symbol;
}

// As much of `name` as fits `width`, "" if that would say nothing: the whole, or the function's own
// name, or of that the begin; of a dotted path the end.
export function fitted(name: string, width: number, letterWidth: number): string {
  const letters = Math.floor(width / letterWidth);
  if (name.length <= letters) return name;
  if (letters < 4) return "";
  const text = shortName(name);
  if (text.length <= letters) return text;
  const dot = text.lastIndexOf(".");
  if (dot >= 0 && text.length - dot - 1 <= letters - 1 && /^[\w.]+$/.test(text))
    return kEllipsis + text.slice(text.length - letters + 1);
  return text.slice(0, letters - 1) + kEllipsis;
}

// The part of a box that is on the screen: its label stays in view while the box is panned through.
export function visiblePart(left: number, right: number, screen: number): [number, number] {
  return [Math.max(0, left), Math.min(screen, right)];
}
