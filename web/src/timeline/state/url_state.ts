// The part of an address after #: what the timeline shows, so that a link brings others to the same
// place. The run's hash goes with it, so that it is not taken for a place in another run.

export interface UrlState {
  token?: string;
  ticket?: string;  // for the token
  kernel?: string;  // of the notebook behind whose proxy the page is
  hash?: string;
  from?: number;
  to?: number;
  step?: number;
  at?: number;
  find?: string;
  table?: string;  // with find: key of the table that the event is of
  sel?: {table: string; row: number; run?: number};
  hashb?: string;  // of the second of two runs
  align?: number;  // the step of the first run that the second's stands below
  range?: [number, number];
  mark?: [number, number];  // that is shaded; of a moment twice the same
  pin?: number[];           // track ids
  open?: number[];          // unfolded; negative - 1: folded
}

const kNumbers = ["from", "to", "step", "at", "align"] as const;

export function parseUrl(fragment: string): UrlState {
  const state: UrlState = {};
  const fields =
    new Map(fragment.replace(/^#/, "").split("&").filter(Boolean).map((field): [string, string] => {
      const at = field.indexOf("=");
      return at < 0 ? [field, ""] : [field.slice(0, at), decoded(field.slice(at + 1))];
    }));
  for (const key of kNumbers) {
    const value = fields.get(key);
    if (value && Number.isFinite(Number(value))) state[key] = Number(value);
  }
  for (const key of ["token", "ticket", "kernel", "hash", "hashb", "find", "table"] as const) {
    const value = fields.get(key);
    if (value) state[key] = value;
  }
  const sel = /^(B:)?(\w+):(\d+)$/.exec(fields.get("sel") ?? "");
  if (sel) state.sel = {table: sel[2], row: Number(sel[3]), ...(sel[1] ? {run: 1} : {})};
  for (const key of ["range", "mark"] as const) {
    const span = numbers(fields.get(key), "-");
    if (span?.length === 2) state[key] = [span[0], span[1]];
  }
  state.pin = numbers(fields.get("pin"), ",");
  state.open = numbers(fields.get("open"), ",");
  return state;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;  // a lone % that somebody typed
  }
}

function numbers(text: string|undefined, between: string): number[]|undefined {
  if (!text) return undefined;
  const found = (between === "-" ? text.split("-") : text.split(between)).map(Number);
  return found.every(Number.isFinite) ? found : undefined;
}

export function formatUrl(state: UrlState): string {
  const fields: string[] = [];
  const add = (key: string, value: string|number|undefined): void => {
    if (value !== undefined && value !== "")
      fields.push(`${key}=${encodeURIComponent(value).replace(/%3A/g, ":").replace(/%2C/g, ",")}`);
  };
  add("hash", state.hash);
  add("hashb", state.hashb);
  add("align", state.align);
  add("from", state.from === undefined ? undefined : Math.round(state.from));
  add("to", state.to === undefined ? undefined : Math.round(state.to));
  add("step", state.step);
  add("at", state.at);
  add("find", state.find);
  add("table", state.table);
  if (state.sel) add("sel", `${state.sel.run ? "B:" : ""}${state.sel.table}:${state.sel.row}`);
  for (const key of ["range", "mark"] as const)
    add(key, state[key]?.map((time) => Math.round(time)).join("-"));
  add("pin", state.pin?.join(","));
  add("open", state.open?.join(","));
  return `#${fields.join("&")}`;
}
