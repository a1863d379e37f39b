// Builds the page from the JSON that `batchlight report`, `diff` or `ranks` placed in it.
import type {PageData} from "./data";
import type {DiffPage} from "./diff_data";
import {copyWholeNames, h} from "./dom";
import type {RanksPage} from "./rank_maps_data";
import type {StepRange} from "./step_bins";
import {applyStoredTheme} from "./theme";
import {adviceView} from "./views/advice_view";
import {diffView} from "./views/diff_view";
import {DistributedView} from "./views/distributed_view";
import {ExplorerView} from "./views/explorer_view";
import {GpuView} from "./views/gpu_view";
import {lossBanner, titleBlock, topBar} from "./views/header_view";
import {kernelView} from "./views/kernel_view";
import {MemoryView} from "./views/memory_view";
import {rankMapsView} from "./views/rank_maps_view";
import {ranksView} from "./views/ranks_view";
import {runView} from "./views/run_view";
import {Scope} from "./views/scope";
import {stagesView} from "./views/stages_view";
import {StepView} from "./views/step_view";
import {TimelineParts, TimelineView} from "./views/timeline_view";
import {TablesView} from "./views/tables_view";
import {TreeView} from "./views/tree_view";

const kSectionLabels: Record<string, string> = {
  advice: "Advice",
  phases: "Phases",
  steps: "Steps",
  stages: "Stages",
  timeline: "Timeline",
  gpu: "GPU",
  kernels: "Kernels",
  distributed: "Ranks",
  "rank-maps": "Maps",
  memory: "Memory",
  tree: "Modules",
  top: "Operators",
  tables: "Tables",
  run: "Run",
  waiting: "Waiting",
  "every-rank": "Ranks",
  changes: "Changes",
  gates: "Gates",
  "not-the-same": "Not the same",
};

function read(): PageData|DiffPage|RanksPage {
  const text = document.getElementById("data")?.textContent ?? "";
  return JSON.parse(text) as PageData | DiffPage | RanksPage;
}

function noSteps(page: PageData): HTMLElement {
  return h(
    "aside", {class: "banner", role: "note"}, h("b", {}, "No steps"), h("p", {}, page.steps_found));
}

function show(version: string, content: (HTMLElement|null)[]): void {
  const shown = content.filter((part): part is HTMLElement => part !== null);
  const sections = shown.filter((part) => kSectionLabels[part.id])
                     .map((part) => ({id: part.id, label: kSectionLabels[part.id]}));
  document.body.replaceChildren(
    topBar(sections),
    h("main", {}, ...shown),
    h("footer", {}, `Made by batchlight ${version}. This file needs no network and no server.`),
  );
}

function buildReport(page: PageData): void {
  const timeline = new TimelineView(new TimelineParts());
  page.timeline = timeline.element !== null;
  const scope = new Scope(page);
  const tree = new TreeView(page, scope);
  const explorer = new ExplorerView(page, scope);
  const [gpu, ranks, memory, all] =
    [new GpuView(page), new DistributedView(page), new MemoryView(page), new TablesView(page)];
  const onSelect = (range: StepRange, label: string): void => {
    scope.selectSteps(range, label);
    for (const view of [gpu, ranks, memory, all]) view.show(range, label);
  };
  const parts: (HTMLElement|null)[] = page.training.length > 0
    ? new StepView(page, onSelect, (process) => scope.selectRank(process)).sections
    : [noSteps(page)];
  const stages = stagesView(page);
  parts.splice(1, 0, ...(stages ? [stages] : []), adviceView(page));
  const tables = [
    timeline.element,
    tree.element,
    explorer.element,
    gpu.element,
    kernelView(page),
    ranks.element,
    rankMapsView(page.rank_maps),
    memory.element,
    all.element,
    runView(page),
  ];
  show(page.version, [titleBlock(page), lossBanner(page.losses), ...parts, ...tables]);
  if (page.timeline) timeline.follow();
}

function buildDiff(page: DiffPage): void {
  const title = h("div", {class: "title", id: "top-of-page"}, h("h1", {}, "Two runs compared"));
  show(page.version, [title, ...diffView(page.diff)]);
}

applyStoredTheme();
copyWholeNames();
const page = read();
if (!("kind" in page)) buildReport(page);
else if (page.kind === "diff") buildDiff(page);
else show(page.version, ranksView(page));
