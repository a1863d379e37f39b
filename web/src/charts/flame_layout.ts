// Geometry of a flame graph: every node's place as fractions of the whole. Children are placed side
// by side below their parent; the free space beside them is the parent's own time.

export interface Frame {
  row: number;
  level: number;  // 0 = the top
  left: number;   // 0 to 1
  width: number;
}

// `value[row]` includes the children of the row; -1 in `parent` = a root. Frames narrower than
// `least` are left out, with everything below them. `all`: what the width stands for at the top.
// `root`: only what is below this row; -1 = all.
export function flameLayout(
  parent: readonly number[],
  value: readonly number[],
  all: number,
  root: number,
  least: number,
  ): Frame[] {
  const children = parent.map((): number[] => []);
  const roots: number[] = [];
  parent.forEach((above, row) => (above < 0 ? roots : children[above]).push(row));
  const frames: Frame[] = [];
  const place =
    (rows: readonly number[], level: number, left: number, room: number, whole: number): void => {
      // Children that add up to more than their parent (work of several threads) share its width.
      const sum = rows.reduce((total, row) => total + value[row], 0);
      const scale = room / Math.max(sum, whole);
      let at = left;
      for (const row of rows) {
        const width = value[row] * scale;
        if (width >= least) {
          frames.push({row, level, left: at, width});
          place(children[row], level + 1, at, width, value[row]);
        }
        at += width;
      }
    };
  const top = root < 0 ? roots : [root];
  const whole = root < 0 ? all : value[root];
  place(top, 0, 0, 1, whole || 1);
  return frames;
}
