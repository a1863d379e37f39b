// What looks at a thread say of a call that they saw, as lines of a panel.
import {count, time} from "../../format";
import type {EventAnswer} from "../data/protocol";

const kLeastUnseenNs = 1000;  // the parts are whole microseconds

// What the thread did meanwhile; the parts add up to the duration. What did not happen is left out.
export function didRows({did, from, to}: EventAnswer): [string, string][] {
  if (!did) return [];
  const unseen = to - from - did.ran - did.ready - did.gil - did.waited;
  const rows: [string, number][] = [
    ["ran", did.ran],
    ["waited for a processor", did.ready],
    ["waited for Python's lock", did.gil],
    [did.knows_ready ? "slept or waited" : "slept, waited, or had no processor", did.waited],
    ["nobody looked", unseen < kLeastUnseenNs ? 0 : unseen],
  ];
  return rows.filter(([, ns]) => ns > 0).map(([label, ns]) => [label, time(ns)]);
}

// How well a call is known that samples found.
export function sampledRows({sampled}: EventAnswer): [string, string][] {
  if (!sampled) return [];
  const {looks, apart, line, line_ns, steps} = sampled;
  const rows: [string, string][] = [
    ["looks that saw it", count(looks)],
    ["from look to look", `${time(apart)}; it begins and ends between two`]
  ];
  if (line > 0) rows.push(["mostly in line", `${line}, with what it calls there ${time(line_ns)}`]);
  if (steps > 1)
    rows.push([
      "calls",
      `looks saw it in ${
        count(steps)} steps: one call through all of them, or several between which nobody looked`
    ]);
  return rows;
}
