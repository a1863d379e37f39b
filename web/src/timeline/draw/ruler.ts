// Ticks of the time axis.

const kSteps = [1, 2, 5];

// The distance between ticks that are at least `least` px apart: 1, 2 or 5 times a power of ten.
export function tickDistance(nsPerPixel: number, least: number): number {
  const wanted = Math.max(1, nsPerPixel * least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  for (const step of kSteps)
    if (step * power >= wanted) return step * power;
  return 10 * power;
}

export function ticks(from: number, to: number, distance: number): number[] {
  const found = [];
  for (let i = Math.ceil(from / distance); i * distance <= to; ++i) found.push(i * distance + 0);
  return found;
}

// Which labels of a line can be drawn whole, none beyond `end`. Those that end before the next
// one's place come first: what stands at a long stretch is its own name. Of others that touch the
// first. `x` ascends.
export function apart(labels: readonly {
  x: number;
  width: number
}[], gap: number, end: number): boolean[] {
  const behind = labels.map(({x, width}) => x + width + gap);
  const shown = labels.map(({x, width}, i) => x + width <= end && !(behind[i] > labels[i + 1]?.x));
  let taken = -Infinity;
  let next = 0;  // the first that is shown from here on
  labels.forEach(({x, width}, i) => {
    next = Math.max(next, i);
    while (next < labels.length && !shown[next]) ++next;
    if (!shown[i] && x + width <= end && x >= taken && !(behind[i] > labels[next]?.x))
      shown[i] = true;
    if (shown[i]) taken = behind[i];
  });
  return shown;
}

const kUnits: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// A moment with the digits that a distance of `resolution` ns needs: "1.2345 s".
export function moment(ns: number, resolution: number): string {
  const [factor, unit] = kUnits.find(([size]) => Math.abs(ns) >= size) ?? kUnits[3];
  const digits = Math.max(0, Math.ceil(Math.log10(factor / Math.max(1, resolution)) - 1e-9));
  return `${(ns / factor).toFixed(Math.min(digits, Math.round(Math.log10(factor))))} ${unit}`;
}
