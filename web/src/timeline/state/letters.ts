// How much larger than usual letters and rows are: on a screen of very many points letters of the
// usual number of points are too small to read.
const kUsualWidth = 2560;  // of a window, and what is narrower
const kMost = 2;
const kStep = 8;  // parts of the usual size

export function letterScale(windowWidth: number): number {
  const scale = Math.floor((kStep * windowWidth) / kUsualWidth) / kStep;
  return Math.max(1, Math.min(kMost, scale));
}
