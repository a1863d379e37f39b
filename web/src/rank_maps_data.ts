// The heat maps of the ranks of a job; written by src/report/page/page_rank_maps.cpp.

// What ranks take longer than the rank in the middle, in 0.01 % of a step. Several ranks may share
// a line.
export interface RankMapData {
  key: "phase"|"step";
  columns: string[];  // phases, or the first step of each column
  share: (
    number|null)[][];  // by line and column: of the rank that takes most; null: it has no such step
  worst?: number[][];  // which rank that is; absent: a line is a rank
}

export interface RankMapsData {
  step_ns: number;
  knows_waits: boolean;  // what was lost waiting is no part of what a rank takes in a step
  grid: string;          // "dp 4, tp 8"; "": not known
  steps_per_column: number;
  ranks: string[];
  lines: string[];
  maps: RankMapData[];
}

export interface RanksPage {
  format: 1;
  kind: "ranks";
  version: string;
  rank_maps: RankMapsData|null;
}
