// The rank that the others wait for, over the selected steps. The rule and its sentences come with
// the data. src/analysis/ranks/straggler.h applies the same rule to the whole run, and
// tests/golden/stragglers.json holds cases for both.
import type {StragglerRule} from "./data";
import {percent, time} from "./format";

export interface RankWait {
  waited: number;
  step: number;
}

// null: none stands out.
export function findStraggler(rule: Pick<StragglerRule, "others_times"|"of_step">,
  ranks: readonly RankWait[]): {row: number; waited: number}|null {
  if (ranks.length < 2) return null;
  const row = ranks.reduce((best, {waited}, at) => (waited < ranks[best].waited ? at : best), 0);
  const least = ranks[row];
  const all = ranks.reduce((sum, {waited}) => sum + waited, 0);
  const others = (all - least.waited) / (ranks.length - 1);
  if (least.waited * rule.others_times > others || others < rule.of_step * least.step) return null;
  return {row, waited: others - least.waited};
}

export function stragglerWords(
  rule: StragglerRule, ranks: readonly RankWait[], names: readonly(number | null)[]): string {
  if (ranks.length < 2) return "";
  const found = findStraggler(rule, ranks);
  if (!found) return rule.none;
  return rule.found.replace("{waited}", time(found.waited))
    .replace("{rank}", String(names[found.row]))
    .replace("{share}", percent(found.waited, Math.max(1, ranks[found.row].step)));
}
