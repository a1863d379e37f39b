// The page of `batchlight view`, and the timeline in a file.
import {copyWholeNames, h} from "../dom";
import {applyStoredTheme} from "../theme";
import {App} from "./app";
import {openRuns} from "./data/open_run";
import {keepKernel, keepToken, redeem} from "./data/http_source";
import type {CallError} from "./data/source";
import {Connection} from "./data/connection";
import type {UrlState} from "./state/url_state";
import {formatUrl, parseUrl} from "./state/url_state";

// What the address says; the token in it is kept and leaves it.
async function takeToken(): Promise<UrlState> {
  const state = parseUrl(location.hash);
  if (state.token || state.ticket) {
    if (state.token) keepToken(state.token);
    keepKernel(state.kernel ?? "");
    history.replaceState(null, "", location.pathname + location.search + formatUrl(state));
    if (state.ticket) await redeem(state.ticket);
  }
  return state;
}

async function start(): Promise<void> {
  const state = await takeToken();
  const bar = h("progress", {max: 1, "aria-label": "Reading"});
  const doing = h("p", {role: "status"}, "Opening …");
  document.body.append(h("main", {class: "opening"}, h("h1", {}, "batchlight"), doing, bar));
  let app: App|null = null;
  const connection = new Connection();
  const runs = await openRuns({
    connection,
    onData: () => app?.listeners.onData(),
    onNames: () => app?.listeners.onNames(),
    onError: (error) => app?.listeners.onError(error),
    onProgress: (words, share) => {
      doing.textContent =
        share > 0 ? `${words}, ${Math.round(100 * share)} %` : words || "Opening …";
      if (share > 0) bar.value = share;
    },
  });
  // Within the report the place comes from there.
  const root = document.documentElement;
  const {place} = root.dataset;
  const made = app = new App(runs, connection, place === undefined ? state : parseUrl(place));
  root.addEventListener(
    "place", (event) => made.address.go(parseUrl((event as CustomEvent<string>).detail)));
  addEventListener("hashchange", () => {
    if (parseUrl(location.hash).token) made.unwarn("wrong");
    takeToken().then((to) => made.address.back(to), failed);
  });
  // For measurements and tests: what the last frame drew.
  Object.assign(window, {batchlightTimeline: {app, counts: () => app?.stage.counts}});
}

function failed(error: Error): void {
  // The printed address, opened in this tab: only what is behind # changes.
  addEventListener("hashchange", () => location.reload());
  const help = (error as CallError).code === "token" ? kNoToken : [];
  document.body.replaceChildren(h("main", {class: "opening"}, h("h1", {}, "batchlight"),
    h("p", {class: "bad", role: "alert"}, error.message), ...help.map((text) => h("p", {}, text))));
}

const kNoToken = [
  "A run is shown only to who has its token. It is in the address that batchlight view printed " +
    "(http://127.0.0.1:…/#token=…), and leaves the address bar once the page is open, so that an address " +
    "that is copied from there opens nothing in another tab.",
  "Open the printed address again, as a whole. Or, in the tab that shows the run: Link, " +
    "\u201cCopy address with its token\u201d.",
];

applyStoredTheme();
copyWholeNames();
start().catch(failed);
