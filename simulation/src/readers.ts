import { isTerminal, type Json, type State } from "@engine/contract";
import type { FollowPart } from "@engine/server";
import type { FrameSeen, StreamSeen } from "./evidence.ts";
import { copied, type Network } from "./network.ts";
import type { Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { Servers } from "./servers.ts";
import type { World } from "./world.ts";

const CONNECT_MS = 10_000;
/** What the client of a reader takes for a dead connection. */
const SILENT_MS = 60_000;

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

interface ReadersParts {
  readonly world: World;
  readonly random: Random;
  readonly network: Network;
  readonly servers: Servers;
}

/** Those who watch executions, and connect again where they were when their stream breaks. */
export class Readers {
  readonly streams: Mutable<StreamSeen>[] = [];
  /** Readers that have not seen the end of what they watch. */
  open = 0;
  readonly #parts: ReadersParts;
  #count = 0;

  constructor(parts: ReadersParts) {
    this.#parts = parts;
  }

  async follow(client: Process, execution_id: string): Promise<void> {
    const { random } = this.#parts;
    const reader = `r${++this.#count}`;
    const events = random.chance(0.5) ? "all" : null;
    let after: number | null = null;
    this.open++;
    for (;;) {
      const stream = await this.#once(client, { reader, execution_id, events, after });
      const last = stream.frames.findLast(({ id }) => id !== null);
      if (last && hasEnded(last)) break;
      after = last?.id ?? after;
      await new Promise<void>((resolve) => void client.after(random.between(50, 2_000), resolve));
    }
    this.open--;
  }

  /** One connection, to its end. */
  #once(
    client: Process,
    of: Pick<StreamSeen, "reader" | "execution_id" | "events" | "after">,
  ): Promise<StreamSeen> {
    const { world, network, servers, random } = this.#parts;
    const frames: FrameSeen[] = [];
    const stream: Mutable<StreamSeen> = { ...of, frames, closed: "cut" };
    this.streams.push(stream);
    const at = random.below(servers.count);
    const [server, name] = [`s${at + 1}`, client.name];
    return new Promise((resolve) => {
      let [isOver, lastAt] = [false, 0];
      let stopWaiting = () => {};
      const finish = (closed: StreamSeen["closed"]) => {
        if (isOver) return;
        isOver = true;
        stopWaiting();
        stream.closed = closed;
        resolve(stream);
      };
      const hear = () => {
        stopWaiting();
        stopWaiting = client.setTimer(() => finish("cut"), SILENT_MS);
      };
      hear();

      /** False: the connection is broken. */
      const pass = (deliver: () => void): boolean => {
        const delay = network.frameDelay(server, name);
        if (delay === undefined || delay === Number.POSITIVE_INFINITY) {
          if (delay !== undefined || !network.tells(server, name)) return false;
          client.after(network.delay(), () => finish("cut"));
          return false;
        }
        // In order, whatever the draws.
        const leaves = servers.process(at)?.time.reached ?? world.now;
        lastAt = Math.max(lastAt + 0.001, leaves + delay);
        client.after(lastAt - world.now, () => {
          if (isOver) return;
          hear();
          deliver();
        });
        return true;
      };
      const serve = async () => {
        const { executions } = servers.engine(at);
        const { execution_id, after, events } = of;
        const request = { execution_id, ...(after !== null && { after }) };
        const follower = await executions.follow(request, events ? { events } : {});
        const process = servers.process(at);
        const pump = async () => {
          for await (const part of follower.frames()) {
            if (isOver || !process?.isAlive) break;
            const frame = seen(part);
            if (!frame) continue;
            const isSent = pass(() => {
              frames.push({ ...frame, at: world.now });
              world.trace.say(name, () => `${of.reader} sees ${frame.event} ${frame.id ?? ""}`);
            });
            if (!isSent) return;
          }
          // A server that stops ends every stream, whatever it was about.
          pass(() => finish(servers.isUp(at) ? "server" : "cut"));
        };
        // A frame that needs the store cannot be made while that is away: the stream breaks off.
        pump().catch((error: unknown) => {
          world.trace.say(server, () => `breaks the stream of ${name} off: ${String(error)}`);
          pass(() => finish("cut"));
        });
      };
      network
        .call({
          from: client,
          to: server,
          what: () => `follow ${world.trace.name(of.execution_id)} after ${of.after}`,
          timeoutMs: CONNECT_MS,
          mayRepeat: false,
          serve,
        })
        .catch(() => finish("cut"));
    });
  }
}

/** Undefined for a comment. */
function seen(part: FollowPart): Omit<FrameSeen, "at"> | undefined {
  if (typeof part === "string") return undefined;
  const { event, id, data } = part;
  return { event, id: id ?? null, data: copied(data) as Json };
}

function hasEnded({ data, event }: FrameSeen): boolean {
  const { state } = data as { state?: State };
  return event !== "event" && state !== undefined && isTerminal(state);
}
