// Colours of phases and of the parts of GPU time. Every known phase has its own colour, the same in
// every report; others take what is left. The colours themselves are in style/theme.css
// (--series-N), chosen to be told apart with any colour vision; no chart relies on colour alone.
const kKnown: Record<string, number> = {
  data_loading: 1,
  copy_to_device: 2,
  forward: 3,
  backward: 4,
  optimizer: 5,
  zero_grad: 6,
  loss: 7,
  communication: 8,
  compile: 9,
  rollout: 1,
  validation: 10,
  checkpoint: 11,
  other: 0,
  start_up: 1,
  recorder_build: 0,
  counters: 0,
  preprocessing: 2,
  warm_up: 4,
  graph_capture: 7,
  training: 3,
  inference: 3,
  between_epochs: 6,
  between_steps: 6,
  shutdown: 8,
  tensor_core: 5,
  compute: 3,
  graph: 7,
  copy: 2,
  memset: 6,
  idle_data_loading: 1,
  idle_compile: 9,
  idle_synchronization: 8,
  idle_launch: 2,
  idle_operators: 10,
  idle_cpu_tensors: 9,
  idle_system_call: 6,
  idle_gil: 1,
  idle_no_processor: 7,
  idle_recorder: 0,
  idle_model: 3,
  idle_autograd: 4,
  idle_optimizer: 5,
  idle_own_python: 11,
  idle_waiting: 8,
  idle_python: 7,
  idle_queue: 0,
  idle_elsewhere: 1,
};
const kSeriesCount = 12;

// A series number for each key; an unknown key takes the first unused number.
export function seriesNumbers(keys: readonly string[]): number[] {
  const used = new Set(keys.map((key) => kKnown[key]).filter((number) => number !== undefined));
  let next = kSeriesCount - 1;
  return keys.map((key) => {
    const known = kKnown[key];
    if (known !== undefined) return known;
    while (next > 1 && used.has(next)) --next;
    used.add(next);
    return next;
  });
}

// Time in which nothing works is pale, whatever its cause.
export function seriesColor(series: number, idle = false): string {
  return idle ? `color-mix(in srgb, var(--series-${series}) 26%, var(--idle))`
              : `var(--series-${series})`;
}
