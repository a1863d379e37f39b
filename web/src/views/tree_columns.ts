// The columns of the tree: times forward and backward, with what they are of. Those that say
// nothing in this run (no GPU, no backward pass) are left out.
import type {Tree} from "../data";
import {isGpuWork} from "../tree";
import type {TreeSums} from "../tree";

export interface TreeColumn {
  name: string;
  help: string;
  value: (node: number) => number;
  unit: "ns"|"%"|"";
}

export function treeColumns(tree: Tree, sums: TreeSums): TreeColumn[] {
  const hasBackward = tree.parent.some(
    (parent, node) => parent < 0 && sums.cpuBackward[node] + sums.gpuBackward[node] > 0);
  const hasGpu = sums.gpu > 0;
  const per = tree.per_step ? "per step" : "in the whole run";
  const inside = `${per}, with all that is inside`;
  return [
    ...cpuColumns(tree, sums, inside, hasBackward),
    ...(hasGpu ? gpuColumns(sums, inside, hasBackward) : []),
    {name: "Calls", help: `Calls ${per}`, unit: "", value: (n) => sums.calls[n]},
  ];
}

// Of the backward pass.
function backward(name: string, value: (node: number) => number): TreeColumn {
  return {name, help: "The same of the backward pass", unit: "ns", value};
}

function cpuColumns(
  tree: Tree, sums: TreeSums, inside: string, hasBackward: boolean): TreeColumn[] {
  const {cpuForward, cpuBackward, self} = sums;
  return [
    {name: "CPU fwd", help: `CPU time ${inside}`, unit: "ns", value: (n) => cpuForward[n]},
    ...(hasBackward ? [backward("CPU bwd", (n) => cpuBackward[n])] : []),
    {
      name: "Self",
      help: "CPU time in nothing inside",
      unit: "ns",
      value: (n) => (isGpuWork(tree.kind[n]) ? 0 : self[n]),
    },
    {
      name: tree.per_step ? "Of step" : "Of run",
      help: "CPU forward and backward / mean step",
      unit: "%",
      value: (n) => (100 * (cpuForward[n] + cpuBackward[n])) / (sums.step_ns || 1),
    },
  ];
}

function gpuColumns(sums: TreeSums, inside: string, hasBackward: boolean): TreeColumn[] {
  const {gpuForward, gpuBackward} = sums;
  return [
    {name: "GPU fwd", help: `GPU time ${inside}`, unit: "ns", value: (n) => gpuForward[n]},
    ...(hasBackward ? [backward("GPU bwd", (n) => gpuBackward[n])] : []),
    {
      name: "Of GPU",
      help: "GPU forward and backward / all GPU time",
      unit: "%",
      value: (n) => (100 * (gpuForward[n] + gpuBackward[n])) / (sums.gpu || 1),
    },
  ];
}
