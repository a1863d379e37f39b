// The kernel of the notebook that this page was served for, behind Jupyter's proxy. Every question
// there carries the login to Jupyter, and the port is the notebook's for as long as the kernel's
// process lives, then anybody's: so before each one Jupyter is asked whether that very process
// lives. What it says has its session; the control channel answers while a cell runs.
interface Said {
  channel?: string;
  header?: {session?: string};
  parent_header?: {msg_id?: string};
}

export class Kernel {
  private socket: WebSocket|null = null;
  private asked: {id: string; tell: (alive: boolean) => void; alive: Promise<boolean>}|null = null;
  private dead = false;

  // `words`: its number at Jupyter and its session, as the address has them.
  constructor(readonly words: string) {}

  get isDead(): boolean {
    return this.dead;
  }

  // Once it is not the one that was there, it never is again.
  async alive(): Promise<boolean> {
    if (this.dead) return false;
    if (!this.asked) this.ask();
    return await this.asked!.alive;
  }

  private ask(): void {
    const id = Array.from(crypto.getRandomValues(new Uint32Array(4))).join("");
    let tell: (alive: boolean) => void = () => {};
    const alive = new Promise<boolean>((resolve) => tell = resolve);
    this.asked = {id, tell, alive};
    const header = {
      msg_id: id,
      msg_type: "kernel_info_request",
      session: id,
      username: "",
      version: "5.3",
      date: ""
    };
    const text =
      JSON.stringify({channel: "control", header, parent_header: {}, metadata: {}, content: {}});
    if (this.socket?.readyState === WebSocket.OPEN) return this.socket.send(text);
    const channels = `api/kernels/${this.words.split(",")[0]}/channels`;
    const at = new URL(location.pathname.replace(/proxy\/.*/, channels), location.href);
    at.protocol = at.protocol.replace("http", "ws");
    const socket = new WebSocket(at);
    socket.onopen = () => socket.send(text);
    socket.onmessage = ({data}) => this.hear(data);
    socket.onclose = () => {
      this.socket = null;
      this.answer(false);
    };
    this.socket = socket;
  }

  private hear(data: unknown): void {
    const said = typeof data === "string" ? JSON.parse(data) as Said : {};
    if (said.channel !== "control" || said.parent_header?.msg_id !== this.asked?.id) return;
    this.dead = said.header?.session !== this.words.split(",")[1];
    this.answer(!this.dead);
  }

  private answer(alive: boolean): void {
    this.asked?.tell(alive);
    this.asked = null;
  }
}
