import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

export interface Frame {
  readonly event: string;
  readonly data: string;
  /** When it arrived, in milliseconds since 1970. */
  readonly at: number;
}

/** A stream of server-sent events: reads at once, or not before it is told to. */
export class SseReader {
  readonly frames: Frame[] = [];
  /** Frames that the server says it left out, by its comments `: dropped <n>`. */
  dropped = 0;
  readonly #answer: IncomingMessage;
  #text = "";

  private constructor(answer: IncomingMessage) {
    this.#answer = answer;
  }

  /** Opens a stream; its head has been answered when this resolves. */
  static async open(url: string): Promise<SseReader> {
    const headers = { accept: "text/event-stream" };
    const outgoing = request(url, { headers, agent: false }).end();
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
    return new SseReader(answer.setEncoding("utf8"));
  }

  /** Resolves when the server has ended the stream. */
  async read(): Promise<void> {
    this.#answer.on("data", (text: string) => this.#take(text));
    await once(this.#answer, "end");
  }

  close(): void {
    this.#answer.destroy();
  }

  #take(text: string): void {
    const at = performance.timeOrigin + performance.now();
    const blocks = (this.#text + text).split("\n\n");
    this.#text = blocks.pop() ?? "";
    for (const block of blocks) {
      let [event, data] = ["", ""];
      for (const line of block.split("\n")) {
        if (line.startsWith("event:")) event = line.slice(6).trim();
        else if (line.startsWith("data:")) data = line.slice(5).trim();
        else if (line.startsWith(": dropped")) this.dropped += Number(line.slice(9));
      }
      if (event !== "") this.frames.push({ event, data, at });
    }
  }
}
