import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { passed } from "./until.ts";

/** What a load came to: answers by status, and how many connections broke off without one. */
export type Tally = Record<string, number>;

/** One thing that somebody who means harm does to a server, for as long as it is told to. */
export interface Load {
  readonly name: string;
  run(url: URL, milliseconds: number): Promise<Tally>;
}

const BODIES = 40;
const BODY_BYTES = 16 * 1024 * 1024;
const LISTS = 5_000;
const READERS = 200;

/** Lists in a list: the most memory for a byte of JSON. */
const NESTED: Buffer = Buffer.from(`[${"[],".repeat(BODY_BYTES / 3 - 2)}[]]`);

/** So many large bodies at a time, again and again. */
export function bodies(name: string, path: string): Load {
  return {
    name,
    async run(url, milliseconds) {
      const tally: Tally = {};
      await during(milliseconds, BODIES, async () => {
        const answered = await exchange(url, [headOf(url, "POST", path, NESTED.length), NESTED]);
        count(tally, answered);
        // Whoever was sent away comes back soon, as the answer allows.
        if (answered !== "202") await passed(500);
      });
      return tally;
    },
  };
}

/** Bodies that are announced, begun and never finished. */
export const stalling: Load = {
  name: `${BODIES} bodies that stall`,
  async run(url, milliseconds) {
    const tally: Tally = {};
    const path = "/workflows/bench/swallow/run/async";
    const begun = NESTED.subarray(0, NESTED.length / 2);
    await during(milliseconds, BODIES, async () => {
      count(tally, await exchange(url, [headOf(url, "POST", path, NESTED.length), begun]));
      await passed(500);
    });
    return tally;
  },
};

/** So many requests at once on one connection. */
export const pipelined: Load = {
  name: `${LISTS} lists on one connection`,
  async run(url, milliseconds) {
    const tally: Tally = {};
    const text = headOf(url, "GET", "/executions?limit=100", 0).repeat(LISTS);
    await during(milliseconds, 1, async () => {
      const socket = open(url);
      let answers = 0;
      socket.on("data", (chunk: Buffer) => {
        answers += chunk.toString("latin1").split("HTTP/1.1 200").length - 1;
        if (answers >= LISTS) socket.destroy();
      });
      socket.write(text);
      const cut = setTimeout(() => socket.destroy(), milliseconds);
      await once(socket, "close");
      clearTimeout(cut);
      tally["200"] = (tally["200"] ?? 0) + answers;
    });
    return tally;
  },
};

/** Streams of a long log that nobody reads. */
export function unreadStreams(path: string): Load {
  return {
    name: `${READERS} readers that do not read`,
    async run(url, milliseconds) {
      const sockets = Array.from({ length: READERS }, () => {
        const socket = open(url);
        socket.pause();
        const head = headOf(url, "GET", path, 0);
        socket.write(head.replace("\r\n\r\n", "\r\nlast-event-id: 0\r\n\r\n"));
        return socket;
      });
      await passed(milliseconds);
      const tally: Tally = { open: sockets.filter((socket) => !socket.closed).length };
      for (const socket of sockets) socket.destroy();
      return tally;
    },
  };
}

/** The status of the answer, or why there is none. */
async function exchange(
  url: URL,
  parts: readonly (string | Buffer)[],
  patience = 60_000,
): Promise<string> {
  const socket = open(url);
  for (const part of parts) socket.write(part);
  const status = await new Promise<string>((resolve) => {
    socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1", 9, 12)));
    socket.once("close", () => resolve("cut off"));
    socket.setTimeout(patience, () => resolve("no answer"));
  });
  socket.destroy();
  return status;
}

function open({ hostname, port }: URL): Socket {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  // Being cut off is what may well happen; whoever waits for the answer hears of it.
  socket.on("error", () => undefined);
  return socket;
}

function headOf({ host }: URL, method: string, path: string, length: number): string {
  const body = length ? `content-type: application/json\r\ncontent-length: ${length}\r\n` : "";
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${body}\r\n`;
}

async function during(
  milliseconds: number,
  atATime: number,
  act: () => Promise<void>,
): Promise<void> {
  const until = performance.now() + milliseconds;
  const actor = async () => {
    while (performance.now() < until) await act();
  };
  await Promise.all(Array.from({ length: atATime }, actor));
}

function count(tally: Tally, what: string): void {
  tally[what] = (tally[what] ?? 0) + 1;
}
