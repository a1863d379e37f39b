// Which steps, and whose, a tree or list of the page is a mean over.
import type { PageData } from "../data";
import { h } from "../dom";

export function scopeOf(page: PageData, label: string | null): (string | Node)[] {
  if (!page.tree?.per_step) return ["Of the whole run. "];
  const steps = label ? h("mark", {}, label) : "the steps that count";
  const ranks = page.training.length;
  if (ranks < 2) return ["Per step, means over ", steps, ". "];
  return ["Per step, means over ", steps, ` of all ${ranks} processes (of one: `, h("code", {}, "batchlight report --rank"), "). "];
}
