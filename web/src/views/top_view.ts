// The most expensive things of one kind, as bars with values.
import type {TopList} from "../data";
import {h, labelledName, longName} from "../dom";
import {count, decimalsFor, fixed, scaleFor} from "../format";

export function bars(list: TopList, all: number): HTMLElement {
  const longest = list.rows[0]?.value_ns ?? 0;
  const scale = scaleFor("ns", longest);
  const decimals = decimalsFor(longest / scale.factor, 4);
  const unit = list.per_step ? `${scale.unit} per step` : `${scale.unit} in the whole run`;
  const rows = list.rows.map(
    (row) => h(
      "tr",
      {},
      h("td", {class: "bar-name"}, labelledName(row.name, row.label), detail(row.detail)),
      h(
        "td",
        {class: "bar"},
        h("div", {style: `--width:${((100 * row.value_ns) / (longest || 1)).toFixed(2)}%`}),
        ),
      h("td", {class: "real"}, fixed(row.value_ns / scale.factor, decimals)),
      h("td", {class: "real"}, fixed(100 * row.share, 1)),
      h("td", {class: "integer"}, count(row.calls)),
      ),
  );
  const head = [
    h("th", {scope: "col", class: "text"}, "Name"),
    h("th", {scope: "col", "aria-label": "Bar"}),
    h("th", {scope: "col", class: "real"}, `Time (${scale.unit})`),
    h("th", {scope: "col", class: "real"}, `% ${list.share_of}`),
    h("th", {scope: "col", class: "integer"}, "Calls in the run"),
  ];
  return h(
    "div",
    {class: "top-list"},
    h("p", {class: "muted"}, `${list.measure}, ${unit}${list.whose ? `, ${list.whose}` : ""}`),
    h("div", {class: "scroll"},
      h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))),
    all > list.rows.length ? tableLink(list, all) : null,
  );
}

// Opens the table with all rows and goes there.
function tableLink(list: TopList, all: number): HTMLElement {
  const id = `table-${list.key}`;
  const link = h("a", {href: `#${id}`}, `All ${count(all)} ${list.title}`);
  link.addEventListener("click", () => document.getElementById(id)?.setAttribute("open", ""));
  return h("p", {}, link);
}

function detail(text: string): HTMLElement|null {
  return text ? h("div", {class: "muted detail"}, longName(text)) : null;
}
