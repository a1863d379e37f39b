import type {EventAnswer, EventRef} from "./protocol";
import type {CallError, Source} from "./source";

// The event in what was read since; null: it is not there any more. Rows of a run that goes on may
// have moved: then it is found by its name, where it begins, and its track as long as that has its
// number.
export async function eventAgain(source: Source, old: EventAnswer): Promise<EventAnswer|null> {
  const {table, row, reading, name, from, track} = old;
  const isSame = (event: EventRef|null): boolean =>
    event !== null && event.name === name && event.from === from && event.table === table;
  const ask = async(request: object): Promise<EventAnswer|null> => {
    try {
      return await source.call<EventAnswer>("event", request);
    } catch (error) {
      if ((error as CallError).code === "unknown") return null;  // there is none
      throw error;
    }
  };
  const event = await ask({table, row, reading});
  if (isSame(event) && event!.track === track) return event;
  const called = {text: name, called: 1, table, at: String(from - 1), direction: 1};
  for (const wanted of track === null ? [called] : [{...called, track}, called]) {
    const {event: found} = await source.call<{event: EventRef | null}>("next", wanted);
    if (isSame(found)) return ask({ref: found!.ref});
  }
  return isSame(event) ? event : null;
}
