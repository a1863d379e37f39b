// What a heat map of ranks is drawn from, without the DOM.
export interface Shade {
  from: number;  // 0.01 % of a step
  text: string;
}

// From which part of a step on a place has the colour (--heat-1, ... in style/theme.css).
export const kShades: readonly Shade[] = [
  {from: 50, text: "0.5 %"},
  {from: 100, text: "1 %"},
  {from: 200, text: "2 %"},
  {from: 500, text: "5 %"},
  {from: 1000, text: "10 %"},
  {from: 2000, text: "20 %"},
];

// Row of kShades; -1: the place stays empty.
export function shadeOf(share: number|null): number {
  if (share === null) return -1;
  let shade = -1;
  while (shade + 1 < kShades.length && share >= kShades[shade + 1].from) ++shade;
  return shade;
}

// A path for each shade, in units of a place: places side by side are one box, so that a map of
// ten thousand costs six elements.
export function pathsOf(share: readonly(readonly(number | null)[])[]): string[] {
  const paths = kShades.map(() => "");
  share.forEach((line, y) => {
    for (let begin = 0; begin < line.length;) {
      const shade = shadeOf(line[begin]);
      let end = begin + 1;
      while (end < line.length && shadeOf(line[end]) === shade) ++end;
      if (shade >= 0) paths[shade] += `M${begin} ${y}h${end - begin}v1H${begin}z`;
      begin = end;
    }
  });
  return paths;
}

// Height of a line in whole pixels, so that none is blurred.
export function lineHeight(lines: number): number {
  return Math.max(3, Math.min(18, Math.floor(720 / Math.max(1, lines))));
}

// Which of `count` places get a label if labels need `room` pixels and a place has `size`.
export function labelled(count: number, size: number, room: number): number[] {
  const every = Math.max(1, Math.ceil(room / size));
  const rows: number[] = [];
  for (let row = 0; row < count; row += every) rows.push(row);
  return rows;
}
