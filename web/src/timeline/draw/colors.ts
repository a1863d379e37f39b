// Colours of events as pixels. Names get one of 24 colours of equal lightness, by a hash of the
// name, so that the same kernel looks the same in every run; phases and causes of idle time have
// the report's colours (style/theme.css).

export interface Ink {
  fill: number;  // ABGR, as ImageData has it on every machine that browsers run on
  text: string;  // black or white, whatever is easier to read on it
}

export const kNameColors = 24;
const kChroma = 0.085;

function gamma(linear: number): number {
  const c = Math.min(1, Math.max(0, linear));
  return c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
}

// OKLCH to 0..255 of sRGB (bottosson.github.io/posts/oklab).
export function oklch(
  lightness: number, chroma: number, degrees: number): [number, number, number] {
  const a = chroma * Math.cos((degrees * Math.PI) / 180);
  const b = chroma * Math.sin((degrees * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((c) => Math.round(255 * gamma(c))) as [number, number, number];
}

export function packed([r, g, b]: readonly[number, number, number]): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function unpacked(color: number): [number, number, number] {
  return [color & 255, (color >>> 8) & 255, (color >>> 16) & 255];
}

function luminance(color: number): number {
  const linear = (c: number): number => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = unpacked(color).map((c) => linear(c / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: number, b: number): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

export function inkOf(fill: number): Ink {
  const white = contrast(fill, 0xffffffff) > contrast(fill, 0xff000000);
  return {fill, text: white ? "#ffffff" : "#000000"};
}

// Neighbouring numbers are far apart in hue (7 is prime to 24).
export function nameInks(dark: boolean): Ink[] {
  return Array.from({length: kNameColors}, (_, i) => {
    const degrees = ((i * 7) % kNameColors) * (360 / kNameColors);
    return inkOf(packed(oklch(dark ? 0.5 : 0.8, kChroma, degrees)));
  });
}

// FNV-1a over the letters; digits do not count, so that layers.0 and layers.1 look alike.
export function colorOfName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; ++i) {
    const code = name.charCodeAt(i);
    if (code >= 48 && code <= 57) continue;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % kNameColors;
}
