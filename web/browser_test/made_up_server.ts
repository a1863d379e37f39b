// Serves timelines in files (timeline_page.py) as `batchlight view` serves recordings, for tests of
// the page alone: what it does while a run grows, when answers are slow, late or refused.
//
// Usage: node made_up_server.cjs SCRIPT STYLE PAGE...: a run for each page; prints its address. On
// its standard input "next FILE" puts another page in the place of the first run, "slow MS" delays
// answers, "growing no" says that it has ended, "reading 0.4" that so much of it is read, "partial
// yes" that its first picture is there, without what analyses find.
import {readFileSync} from "node:fs";
import {createServer} from "node:http";
import {createInterface} from "node:readline";
import {inflateSync} from "node:zlib";
import {decodePageEvents} from "../src/timeline/data/page_events";
import {PageSource} from "../src/timeline/data/page_source";

const kToken = "ab".repeat(32);
const kColumns =
  [["start", 4], ["width", 4], ["ref", 4], ["name", 4], ["merged", 4], ["busy", 1], ["flags", 1]];
const kSampleColumns = [["start", 4], ["least", 8], ["most", 8], ["last", 8]];
const [script, style, ...pages] = process.argv.slice(2);

function open(file, generation) {
  const page = readFileSync(file, "utf8");
  const part = (id) => page.split(`id="${id}">`)[1].split("</script>")[0];
  // Each page stands for a recording of its own, with notes of its own.
  const info = {...JSON.parse(part("timeline-run")), source: file, generation, static: undefined};
  const events =
    decodePageEvents(new Uint8Array(inflateSync(Buffer.from(part("timeline-events"), "base64"))));
  return {info, source: new PageSource(info, JSON.parse(part("timeline-names")), events)};
}

const runs = pages.map((file) => open(file, 1));
const notes = [[], []];
let [slowMs, growing, reading, partial] = [0, false, 1, false];
const kFound = ["steps", "phases", "idle"];

// The layout of docs/design/0016-timeline.md.
function encode(answer) {
  const rows = [];
  const [items, samples] = [[], []];
  const add = (map, list) => {
    for (const [key, data] of map) {
      const [track, row] = key.split(":").map(Number);
      rows.push([track, row, list.reduce((sum, one) => sum + one.count, 0), data.count]);
      list.push(data);
    }
  };
  add(answer.rows, items);
  add(answer.counters, samples);
  const count = (list) => list.reduce((sum, one) => sum + one.count, 0);
  const head = Buffer.alloc(48 + 16 * rows.length);
  head.writeUInt32LE(0x56544c42, 0);
  head.writeUInt16LE(1, 4);
  [answer.from, answer.to, answer.step].forEach(
    (value, i) => head.writeBigInt64LE(BigInt(value), 8 + 8 * i));
  [rows.length, count(items), count(samples), answer.generation].forEach(
    (value, i) => head.writeUInt32LE(value, 32 + 4 * i));
  rows.flat().forEach((value, i) => head.writeUInt32LE(value, 48 + 4 * i));
  const parts = [head];
  const column = (list, [name, bytes]) => {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    parts.push(Buffer.alloc((8 - (size % 8)) % 8));
    for (const one of list)
      parts.push(Buffer.from(one[name].buffer, one[name].byteOffset, bytes * one.count));
  };
  for (const one of kColumns) column(items, one);
  for (const one of kSampleColumns) column(samples, one);
  return Buffer.concat(parts);
}

// What is recorded, before steps, phases and gaps are found.
function firstPicture(info) {
  const tracks = info.tracks.filter(({kind}) => !kFound.includes(kind));
  return {...info, growing, complete: false, steps: [], tracks};
}

async function answer(call, request) {
  if (call === "status") {
    const list = runs.map(({info}) => ({
      source: info.source,
      generation: info.generation,
      ready: reading === 1,
      growing,
      progress: reading,
      doing: reading === 1 ? "" : `reading ${info.source}`,
      error: ""
    }));
    return {version: "0", runs: list};
  }
  const {info, source} = runs[request.run];
  if (call !== "run" && request.generation && request.generation !== info.generation)
    throw {status: 409, code: "generation", message: "read anew"};
  if (reading < 1) throw {status: 409, code: "generation", message: "still being read"};
  if (call === "run") return partial ? firstPicture(info) : {...info, growing};
  if (call === "notes") return {notes: notes[request.run], hash: info.hash, writable: true};
  if (call === "notes_put") {
    const set = new Map(request.set.map((note) => [note.id, note]));
    const kept = notes[request.run].filter(({id}) => !request.drop.includes(id) && !set.has(id));
    notes[request.run] = [...kept, ...request.set];
    return {notes: notes[request.run], hash: info.hash, writable: true};
  }
  if (call !== "view") return source.call(call, request);
  const [from, to, step] = [request.from, request.to, request.step].map(Number);
  return encode(await source.view({from, to, step, rows: request.rows}));
}

const kFiles = {
  "/timeline.js": [script, "text/javascript"],
  "/timeline.css": [style, "text/css"]
};
const kPage =
  "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>batchlight</title>\n" +
  "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"timeline.css\">\n<script src=\"timeline.js\" defer></script>\n</head>\n<body>\n</body>\n</html>\n";
const kPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'";

const server = createServer(async (request, response) => {
  const send = (status, type, body) => {
    response.writeHead(status, {"Content-Type": type, "Content-Security-Policy": kPolicy});
    response.end(body);
  };
  if (request.method === "GET") {
    const [file, type] = kFiles[request.url] ?? [null, "text/html"];
    return send(200, type, file ? readFileSync(file) : kPage);
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.headers.authorization !== `Bearer ${kToken}`)
    return send(401, "application/json",
      JSON.stringify({error: {code: "token", message: "Open the printed URL again."}}));
  if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
  try {
    const body =
      await answer(request.url.split("/").pop(), JSON.parse(Buffer.concat(chunks).toString()));
    const binary = Buffer.isBuffer(body);
    send(200, binary ? "application/octet-stream" : "application/json",
      binary ? body : JSON.stringify(body));
  } catch (error) {
    send(error.status ?? 404, "application/json",
      JSON.stringify({error: {code: error.code ?? "unknown", message: error.message}}));
  }
});
server.listen(
  0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/#token=${kToken}`));

createInterface({input: process.stdin})
  .on("line",
    (line) => {
      const [word, value] = line.split(" ");
      if (word === "next") runs[0] = open(value, runs[0].info.generation + 1);
      if (word === "slow") slowMs = Number(value);
      if (word === "growing") growing = value !== "no";
      if (word === "reading") reading = Number(value);
      if (word === "partial") {
        partial = value === "yes";
        ++runs[0].info.generation;
      }
      console.log("done");
    })
  .on("close", () => process.exit());
