// Says which steps the numbers are over that the page keeps per bin of steps.
import type {PageData} from "../data";
import {h} from "../dom";
import {binScope, stepNumber} from "../step_bins";
import type {StepRange} from "../step_bins";
import type {BinScope} from "../step_bins";

export function binScopeOf(page: PageData, range: StepRange, label: string): (string|Node)[] {
  if (!range) return ["the steps that count"];
  const scope = binScope(page, range);
  return [h("mark", {}, label), wider(page, scope), scope.partly ? ", those that count" : ""];
}

// Memory is held from one step to the next, so a selection means the time from its first step to
// its last.
export function memoryScopeOf(page: PageData, range: StepRange, label: string): (string|Node)[] {
  if (!range) return ["Over the whole run."];
  return ["Over the time of ", h("mark", {}, label), wider(page, binScope(page, range)), "."];
}

function wider(page: PageData, scope: BinScope): string {
  if (!scope.wider) return "";
  return ` (known in groups: ${stepNumber(page, scope.first)}–${stepNumber(page, scope.last)})`;
}
