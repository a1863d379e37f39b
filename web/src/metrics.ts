// Numbers about one thing, each with its formula, of the whole run or over steps that are selected.
import type {Metric} from "./data";
import {numberText} from "./format";
import {evaluate} from "./sums";
import type {PickedParts} from "./sums";

export interface ShownMetric {
  label: string;
  value: string;
  formula: string;
}

// `parts`: those of the selected steps; null: the whole run.
export function shownMetrics(metrics: readonly Metric[], parts: PickedParts|null): ShownMetric[] {
  const values = new Map(metrics.map((metric) => [metric.key, valueOf(metric, parts)]));
  return metrics.filter(({name}) => name !== "").map((metric) => {
    const help = (parts && metric.help_of_steps) || (metric.help ?? "");
    const formula = help.replace(/\{(\w+)\}/g, (place, key: string) => values.get(key) ?? place);
    return {label: metric.name, value: values.get(metric.key) ?? "", formula};
  });
}

function valueOf(metric: Metric, parts: PickedParts|null): string {
  if (!parts || !metric.sum) return metric.value;
  return numberText(metric, evaluate(metric.sum, parts));
}
