// Whether the server of the page answers. Every request tells; while none gets through, the server
// is asked again now and then, and what waits for it hears when it is back.
// "cut": the browser reaches nothing there; "hangs": there is a server, which says nothing;
// "other": something else answers in its place, such as a proxy that does not reach it; "over":
// nothing is asked any more, since another user may listen there by now.
export type Reach = "there"|"cut"|"hangs"|"other"|"over";

const kWhy: Record<Exclude<Reach, "there">, (host: string) => string> = {
  cut: (host) => `The browser cannot reach batchlight view at ${
    host}: it was ended, or ended by itself (--idle), or the way to it is cut (ssh, a laptop that slept).`,
  hangs: (host) => `batchlight view at ${
    host} does not answer: it hangs, or was stopped (Ctrl+Z; fg lets it go on).`,
  other: (host) =>
    `What answers at ${
      host} is not batchlight view but something before it, as a proxy: that does not reach it, ` +
    "since it was ended, or you are signed out there.",
  over: (host) => `batchlight view, through ${
    host}, has ended: with its notebook's kernel, or by itself (--idle).`,
};

// Why nothing comes, and what the page does then. `open`: it shows a run.
export function whyGone(reach: Exclude<Reach, "there">, host: string, open: boolean): string {
  if (reach === "over") {
    const still = open ? "What is on the screen stays. " : "";
    return `${kWhy.over(host)} ${
      still}Nothing is asked there any more, since another program may listen by now: run the notebook's cell again, or load this page anew where you know that it runs.`;
  }
  const stays = open
    ? "What is on the screen stays. This page asks again every two seconds and goes on"
    : "This page asks again every two seconds and opens";
  return `${kWhy[reach](host)} ${
    stays} when it answers; started anew it prints a new URL, so open that one.`;
}

export class Connection {
  private state: Reach = "there";
  private readonly listeners: ((reach: Reach) => void)[] = [];

  get gone(): boolean {
    return this.state !== "there";
  }

  listen(listener: (reach: Reach) => void): void {
    this.listeners.push(listener);
  }

  get over(): boolean {
    return this.state === "over";
  }

  // An answer came, whatever it said, or none.
  tell(state: Reach): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }
}
