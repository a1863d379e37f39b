// The run from start to end: one bar and one table of its stages, for one process at a time.
import type {Life, PageData, StartUpPart} from "../data";
import {h} from "../dom";
import {count, percent, time} from "../format";
import {seriesColor, seriesNumbers} from "../palette";
import {choice} from "./choice";
import {section} from "./section";

export function stagesView(page: PageData): HTMLElement|null {
  if (page.lives.length === 0) return null;
  const content = h("div", {});
  const show = (index: number): void => content.replaceChildren(...life(page.lives[index]));
  show(0);
  const names = page.lives.map(({process}) => process);
  const chosen = choice("Process whose stages are shown", names, 0, show);
  const parts = chosen ? [chosen, content] : [content];
  return section("stages", "The run, from start to end", "", ...parts);
}

function life(one: Life): Node[] {
  const series = seriesNumbers(one.stages.map(({key}) => key));
  const colors = series.map((number) => `background:${seriesColor(number)}`);
  return [bar(one, colors), h("div", {class: "scroll"}, table(one, colors)), ...startUp(one)];
}

function bar({stages, wall_ns}: Life, colors: string[]): HTMLElement {
  const words = stages.map(({label, total_ns}) => `${label} ${percent(total_ns, wall_ns)}`);
  const parts = stages.map(({label, total_ns}, i) => {
    const share = (100 * total_ns) / wall_ns;
    // A letter takes about a percent of the width on a screen, two and a half on a phone.
    const fits = share > label.length;
    const text =
      fits ? h("span", {class: share > 2.5 * label.length ? "" : "wide-only"}, label) : null;
    const title = `${label}: ${time(total_ns)}`;
    return h("div", {style: `flex-grow:${share};${colors[i]}`, title}, text);
  });
  return h("div", {class: "stack", role: "img", "aria-label": `The run is ${words.join(", ")}.`},
    ...parts);
}

const kHead = ["Stage", "Of run", "Total", "Count", "Total/count"];

function table({stages, wall_ns}: Life, colors: string[]): HTMLElement {
  const head =
    kHead.map((name, i) => h("th", {scope: "col", class: i === 0 ? "text" : "real"}, name));
  const rows = stages.map((stage, i) => {
    const share = (100 * stage.total_ns) / wall_ns;
    return h(
      "tr",
      {},
      h("th", {scope: "row"},
        h("span", {class: "tree-label"}, h("i", {class: "chip", style: colors[i]}), stage.label)),
      h("td", {class: "real share", style: `--width:${share.toFixed(2)}%`}, percent(share, 100)),
      h("td", {class: "real"}, time(stage.total_ns)),
      h("td", {class: "real"}, count(stage.count)),
      h("td", {class: "real"}, time(stage.each_ns)),
    );
  });
  const total = h(
    "tr",
    {class: "total"},
    h("th", {scope: "row"}, "Run"),
    h("td", {class: "real"}, percent(1, 1)),
    h("td", {class: "real"}, time(wall_ns)),
    h("td", {}),
    h("td", {}),
  );
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
    h("tfoot", {}, total),
  );
}

function startUp({start_up}: Life): Node[] {
  if (start_up.length === 0) return [];
  const parts = [...start_up].sort((a, b) => b.total_ns - a.total_ns).map(partText);
  return [h("p", {class: "muted"}, `Start-up is ${parts.join(", ")}.`)];
}

function partText({label, total_ns, imports}: StartUpPart): string {
  const largest = imports.map((one) => `${one.package} ${time(one.total_ns)}`);
  return `${label} ${time(total_ns)}` + (largest.length > 0 ? ` (${largest.join(", ")})` : "");
}
