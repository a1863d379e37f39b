// A run in `batchlight view`. URLs are relative: the server may stand behind a proxy with a prefix.
import type {ViewAnswer} from "./answer";
import {decodeView} from "./answer";
import type {Connection, Reach} from "./connection";
import {whyGone} from "./connection";
import {Kernel} from "./kernel";
import type {ViewRequest} from "./protocol";
import type {Source} from "./source";
import {CallError} from "./source";

// Behind a proxy several servers share an origin.
const kTokenKey = `batchlight.token ${location.pathname}`;
const kClaimKey = `batchlight.claim ${location.pathname}`;
const kKernelKey = `batchlight.kernel ${location.pathname}`;
// The token is all that the server needs. What a browser keeps for this host is for its other
// servers, and would go to whoever listens on the port when ours has ended.
const kIsDirect =
  location.pathname === "/" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);
const kCredentials: RequestCredentials = kIsDirect ? "omit" : "same-origin";

function store(key: string, value: string): void {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // it then lasts as long as the page
  }
}

function stored(key: string): string {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function keepToken(token: string): void {
  store(kTokenKey, token);
  kept = token;
}

let kept = "";
let kernel: Kernel|null = null;
let isOver = false;  // nobody knows who listens there by now

// Of the notebook behind whose proxy this page is; "": there is none.
export function keepKernel(words: string): void {
  store(kKernelKey, words);
  kernel = words ? new Kernel(words) : null;
}

// Whether what a question carries goes to our server alone. Behind a proxy of no notebook that is
// so until one fails.
async function isOurs(): Promise<boolean> {
  const words = stored(kKernelKey);
  if (words) kernel ??= new Kernel(words);
  return !isOver && (!kernel || await kernel.alive());
}

async function send(
  call: string, authorization: string, body: string, signal?: AbortSignal): Promise<Response> {
  if (!await isOurs()) throw new TypeError("nothing is asked");
  return await fetch(`api/1/${call}`, {
    method: "POST",
    credentials: kCredentials,
    headers: {"Content-Type": "application/json", Authorization: authorization},
    body,
    signal,
  });
}

function token(): string {
  return kept || stored(kTokenKey);
}

// What the output of a notebook has in place of the token, for one tab. A frame that is moved is
// loaded again, maybe before it had the answer.
export async function redeem(ticket: string): Promise<void> {
  let claim = stored(kClaimKey);
  if (!claim) {
    claim = Array
              .from(crypto.getRandomValues(new Uint8Array(16)),
                (byte) => byte.toString(16).padStart(2, "0"))
              .join("");
    store(kClaimKey, claim);
  }
  let answer: Response;
  try {
    answer = await send("token", `Ticket ${ticket} ${claim}`, "{}");
    if (!answer.ok && token() && await isTaken()) return;
  } catch {
    throw goneError(reachNow("cut"), false);
  }
  if (answer.ok) return keepToken((await answer.json() as {token: string}).token);
  keepToken("");
  throw await errorOf(answer);
}

// The token that was there: it may be of a server that has ended, which had this place before.
async function isTaken(): Promise<boolean> {
  return (await ask("status", {})).status !== 401;
}

async function ask(call: string, request: object, signal?: AbortSignal): Promise<Response> {
  return await send(call, `Bearer ${token()}`, JSON.stringify(request), signal);
}

// What opens this page at a place in any tab, with the token that this one has.
export function addressOf(place: string): string {
  const rest = place.replace(/^#/, "");
  const words = kernel ? `&kernel=${kernel.words}` : "";
  return `${location.origin}${location.pathname}#token=${token()}${words}${rest ? "&" : ""}${rest}`;
}

// Behind a proxy it is over with the first question that nobody of ours answers.
function reachNow(reach: Exclude<Reach, "there">): Exclude<Reach, "there"> {
  if (!kIsDirect && !kernel && reach !== "hangs") isOver = true;
  return isOver || kernel?.isDead ? "over" : reach;
}

function goneError(reach: Exclude<Reach, "there">, open: boolean): CallError {
  return new CallError("gone", whyGone(reach, location.host, open));
}

// To who has a run on the screen; who opens the page is told more (main.ts).
const kOtherToken =
  "Another batchlight view answers at this address: it takes another token than the one this page was opened with, " +
  "whose server was ended. What is on the screen stays. Open the URL that the new one printed, in this tab if you like.";

// How long the server may think about whether it is there; what is asked of events has no limit.
const kStatusMs = 5000;

export class HttpSource implements Source {
  readonly isStatic = false;
  generation = 0;            // 0: any
  private answered = false;  // once, what was asked

  constructor(readonly run: number, private readonly connection: Connection,
    private readonly isCounter: (track: number) => boolean) {}

  async call<Answer>(name: string, request: object = {}, signal?: AbortSignal): Promise<Answer> {
    return await (await this.post(name, request, signal)).json() as Answer;
  }

  async view(request: ViewRequest, signal?: AbortSignal): Promise<ViewAnswer> {
    const {from, to, step} = request;
    const body = {...request, from: String(from), to: String(to), step: String(step)};
    const answer = await this.post("view", body, signal);
    return decodeView(await answer.arrayBuffer(), this.isCounter);
  }

  private async post(call: string, request: object, signal?: AbortSignal): Promise<Response> {
    const of = call === "status" || this.generation === 0 ? {} : {generation: this.generation};
    let answer: Response;
    const limit = new AbortController();
    const timer = call === "status" ? setTimeout(() => limit.abort(), kStatusMs) : undefined;
    try {
      answer = await ask(
        call, {run: this.run, ...of, ...request}, call === "status" ? limit.signal : signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.gone(limit.signal.aborted ? "hangs" : "cut");
    } finally {
      clearTimeout(timer);
    }
    const failure = answer.ok ? null : await errorOf(answer);
    if (failure?.code === kNoReason || isPage(answer)) throw this.gone("other");
    this.connection.tell("there");
    if (failure?.code === "token" && this.answered) throw new CallError("token", kOtherToken);
    if (failure) throw failure;
    this.answered = true;
    return answer;
  }

  private gone(how: Exclude<Reach, "there">): CallError {
    const reach = reachNow(how);
    this.connection.tell(reach);
    return goneError(reach, this.answered);
  }
}

const kNoReason = "no reason";

// Ours says why in its own form.
async function errorOf(answer: Response): Promise<CallError> {
  try {
    const {error} = await answer.json() as {error: {code: string; message: string}};
    return new CallError(error.code, error.message);
  } catch {
    return new CallError(kNoReason, `the server answered ${answer.status} without a reason`);
  }
}

// What is asked for here is never a page: a proxy's form to sign in, say.
function isPage({headers}: Response): boolean {
  return (headers.get("Content-Type") ?? "").startsWith("text/html");
}
