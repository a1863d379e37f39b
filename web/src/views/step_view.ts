// The page's main answer: how long a step takes, what it is made of (on the CPU and on each GPU),
// and the steps one by one. Selecting steps in the chart recomputes all of it for them.
import type {PageData, Steps, Training} from "../data";
import {StepChart} from "../charts/step_chart";
import {h, prose} from "../dom";
import {count, significant, time, timeRange} from "../format";
import {aggregate} from "../selection";
import type {Aggregate, Range} from "../selection";
import type {StepRange} from "../step_bins";
import {verdictOf} from "../verdict";
import {breakdown} from "./breakdown_view";
import {choice} from "./choice";
import {outlierView} from "./outlier_view";
import {RangeForm} from "./range_form";
import {section} from "./section";

export class StepView {
  readonly sections: HTMLElement[];
  private readonly hero = h("div", {class: "hero"});
  private readonly trackBox = h("div");
  private readonly breakdownBox = h("div", {class: "breakdown"});
  private readonly chartBox = h("div");
  private readonly outlierBox = h("div");
  private readonly form = new RangeForm((range) => this.select(range));
  private training: Training;
  private track: Steps;
  private chart: StepChart|null = null;
  private range: Range|null = null;
  private readonly opened = new Set<string>();  // rows of the breakdown

  // `onSelect` is told the steps that the reader selects, by their place in the run; `onProcess`
  // the process, by its place in PageData.training.
  constructor(
    private readonly page: PageData,
    private readonly onSelect: (range: StepRange, label: string) => void,
    private readonly onProcess: (process: number) => void,
  ) {
    this.training = page.training[0];
    this.track = this.headlinesTrack();
    const lead = "Every moment of a step belongs to one phase, so the phases add up to the step.";
    const chartLead =
      `${page.steps_found} Drag over the chart to see ${followers(page)} of those steps only.`;
    const hasPhases =
      page.training.some(({tracks}) => tracks.some(({phases}) => phases.length > 0));
    this.sections = [
      h("section", {id: "overview", "aria-label": "Overview"}, this.processPicker(), this.hero),
      ...(hasPhases
          ? [section("phases", "Where a step goes", lead, this.trackBox, this.breakdownBox)]
          : []),
      section(
        "steps", "Step by step", chartLead, this.chartBox, this.form.element, this.outlierBox),
    ];
    this.showTrack(this.track);
  }

  private processPicker(): HTMLElement|null {
    if (this.page.training.length < 2) return null;
    const options = this.page.training.map(({process}, i) => h("option", {value: i}, process));
    const picker = h("select", {}, ...options);
    picker.addEventListener("change", () => {
      this.select(null);
      this.training = this.page.training[Number(picker.value)];
      this.showTrack(this.headlinesTrack());
      this.onProcess(Number(picker.value));
    });
    return h("label", {class: "picker"}, "Process ", picker);
  }

  // What the headline is about opens first.
  private headlinesTrack(): Steps {
    const {tracks} = this.training;
    return tracks[verdictOf(tracks, null)?.track ?? 0];
  }

  private showTrack(track: Steps): void {
    this.track = track;
    const {tracks} = this.training;
    const names = tracks.map((other) => other.track);
    const buttons = choice("Where", names, tracks.indexOf(track), (i) => this.showTrack(tracks[i]));
    this.trackBox.replaceChildren(...(buttons ? [buttons] : []));
    this.chart = new StepChart(track, this.page.step_kinds, (range) => this.select(range));
    this.chartBox.replaceChildren(this.chart.element);
    const outliers = outlierView(this.page, track, (range) => this.select(range));
    this.outlierBox.replaceChildren(...(outliers ? [outliers] : []));
    this.select(this.range);
  }

  private select(range: Range|null): void {
    const changed = this.range?.first !== range?.first || this.range?.last !== range?.last;
    this.range = range;
    this.chart?.select(range);
    this.form.show(this.track, range);
    this.drawHero(aggregate(this.training.tracks[0], range));
    const numbers = aggregate(this.track, range);
    this.breakdownBox.replaceChildren(
      ...breakdown(this.page, this.track, range, numbers, this.opened));
    if (!changed) return;
    const {group} = this.track;
    this.onSelect(
      range && {first: range.first * group, last: (range.last + 1) * group - 1}, numbers.label);
  }

  private drawHero(numbers: Aggregate): void {
    const [value, unit] = time(numbers.median_ns).split(" ");
    const verdict = verdictOf(this.training.tracks, this.range);
    const sentence = verdict ? h("p", {class: "verdict"}, verdict.before, h("b", {}, verdict.share),
                                 verdict.between, h("b", {}, verdict.phase), ".")
                             : null;
    const apart = [...numbers.set_apart].map(
      ([kind, steps]) => `${count(steps)} ${this.page.step_kinds[kind]}`);
    const facts = this.training.tracks.flatMap((track) => track.facts);
    this.hero.replaceChildren(
      h(
        "div",
        {class: "headline"},
        h("div", {class: "label"},
          this.training.whose ? `A step of ${this.training.whose} takes` : "A step takes"),
        h("div", {class: "big"}, value, h("small", {}, unit)),
        sentence,
        this.range ? null : this.changeFirst(),
        this.scope(numbers),
        ),
      h(
        "dl",
        {class: "stats"},
        numbers.has_percentiles
          ? stat("p5 – p95", timeRange(numbers.p5_ns, numbers.p95_ns), "nine of ten steps")
          : null,
        stat("Longest", time(numbers.longest_ns), `step ${numbers.longest_step}`),
        this.rate(numbers),
        stat("Steps", count(numbers.count),
          apart.length > 0 ? `not counted: ${apart.join(", ")}` : "all of them count"),
        ...facts.map((fact) => stat(fact.label, fact.value, "mean of all steps that count")),
        ),
    );
  }

  // Steps taken from the user's ranges leave time between them, such as Lightning's loading of a
  // batch. The analysis gives the rate of all steps that count.
  private rate({mean_ns, median_ns}: Aggregate): HTMLElement {
    const all = this.training.rate;
    if (!this.range && all.of_gpu)
      return stat("Rate", all.text, `median step of the GPU ${time(all.period_ns)}`);
    const between_ns = this.training.tracks[0].between_ns ?? 0;
    const mean = !this.range && all.mean_text !== "" ? `: ${all.mean_text}` : "";
    const note = between_ns * 50 > median_ns ? `, ${time(between_ns)} between steps` : "";
    const text = this.range ? rate(this.periodOf(median_ns + between_ns)) : all.text;
    return stat("Rate", text, `mean step ${time(mean_ns)}${mean}${note}`);
  }

  // Of the selected steps: the longest of what the CPU and, where it sets the pace, the GPU take.
  private periodOf(cpu_ns: number): number {
    if (!this.training.rate.of_gpu) return cpu_ns;
    const gpus =
      this.training.tracks.slice(1).map((track) => aggregate(track, this.range).median_ns);
    return Math.max(cpu_ns, ...gpus);
  }

  private changeFirst(): HTMLElement|null {
    if (this.page.advice.length === 0)
      return h("p", {class: "change-first"}, "No rule found anything to change.");
    const finding = this.page.advice.find(({short_gain}) => short_gain !== "");
    if (!finding) return null;
    const link = h("a", {href: "#advice"}, ...prose(finding.title));
    return h("p", {class: "change-first"}, "Change first: ", link, `, ${finding.short_gain}.`);
  }

  private scope(numbers: Aggregate): HTMLElement {
    if (!this.range) {
      const of = this.page.from_steps.replace(/^from/, "") || ` ${count(numbers.count)} steps`;
      return h("p", {class: "scope"}, `median of${of}`);
    }
    const all = h("button", {type: "button", class: "quiet"}, "All steps");
    all.addEventListener("click", () => this.select(null));
    return h("p", {class: "scope"}, h("mark", {}, numbers.label), " ", all);
  }
}

// What follows the selection, of what the page has.
function followers(page: PageData): string {
  const {gpu, tree, training} = page;
  const all: [string, boolean][] = [
    ["phases", true],
    ["modules", page.tables.some(({key}) => key === "modules")],
    ["operators", page.tables.some(({key}) => key === "operators")],
    ["kernels", gpu.worked && tree !== null],
    ["the GPU", gpu.utilization.length + gpu.queues.length > 0],
    ["ranks", training.length > 1],
    ["GPU memory", gpu.memory.length > 0],
  ];
  const names = all.flatMap(([name, there]) => (there ? [name] : []));
  const last = names.pop() ?? "";
  return names.length > 0 ? `${names.join(", ")} and ${last}` : last;
}

function stat(label: string, value: string, note: string): HTMLElement {
  return h(
    "div", {}, h("dt", {}, label), h("dd", {}, ...prose(value)), h("dd", {class: "muted"}, note));
}

function rate(period_ns: number): string {
  const perSecond = 1e9 / period_ns;
  if (perSecond < 1) return `${significant(60 * perSecond)} steps/min`;
  return `${significant(perSecond)} steps/s`;
}
