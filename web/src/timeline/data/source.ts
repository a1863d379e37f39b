// Where a run's events come from: a server, or the page itself.
import type {ViewAnswer} from "./answer";
import type {ViewRequest} from "./protocol";

export interface Source {
  readonly isStatic: boolean;
  // Throws a CallError if it cannot be answered.
  call<Answer>(name: string, request?: object, signal?: AbortSignal): Promise<Answer>;
  view(request: ViewRequest, signal?: AbortSignal): Promise<ViewAnswer>;
}

export class CallError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}
