// Whether the server of the page answers. Every request tells; while none gets through, the server
// is asked again now and then, and what waits for it hears when it is back.
export type Reach = "there"|"gone";

export class Connection {
  private state: Reach = "there";
  private readonly listeners: ((reach: Reach) => void)[] = [];

  get gone(): boolean {
    return this.state === "gone";
  }

  listen(listener: (reach: Reach) => void): void {
    this.listeners.push(listener);
  }

  // An answer came, whatever it said, or none.
  tell(state: Reach): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }
}
