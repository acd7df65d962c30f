import type {
  CheckpointAnswer,
  CheckpointItem,
  ReleaseAnswer,
  SessionRef,
  WorkerConnection,
  WorkerFrame,
  WorkerProtocol,
} from "@engine/contract";
import type { TextLink } from "@engine/worker";
import { copied, type Network } from "./network.ts";
import type { Process } from "./process.ts";
import type { ServerAddress } from "./servers.ts";
import { frameText, openConnection } from "./worker-stream.ts";
import type { World } from "./world.ts";
import type { WriteRecord } from "./write-record.ts";

/** As the link over HTTP has them. */
const TIMEOUT_MS = 30_000;
const CONNECT_MS = 10_000;
const HEARTBEAT_MS = 5_000;

export interface WorkerLinkParts {
  readonly world: World;
  readonly network: Network;
  readonly worker: Process;
  readonly addresses: readonly ServerAddress[];
  /** Which of the addresses comes first. */
  readonly first: number;
  readonly writes: WriteRecord;
  /** Told of every frame just before the worker is. */
  readonly onFrame: (frame: WorkerFrame, isPolled: boolean) => void;
  /** Told of frames that leave a server together. */
  readonly onSent: (frames: readonly WorkerFrame[], server: string) => void;
  /** What the server gave the worker to prove itself with, as a file would keep it. */
  readonly credential: { token?: string };
}

/** What a worker knows of its servers: addresses, and a network that may lose everything. */
export function workerLink(parts: WorkerLinkParts): TextLink {
  const { network, worker, addresses, writes, world } = parts;
  let current = parts.first;
  const next = (failed: number) => {
    if (failed === current) current = (current + 1) % addresses.length;
  };

  async function call<Answer>(
    what: string,
    serve: (server: WorkerProtocol, address: ServerAddress) => Promise<Answer>,
    { timeoutMs = TIMEOUT_MS, mayRepeat = true } = {},
  ): Promise<Answer> {
    const used = current;
    const address = addresses[used] as ServerAddress;
    try {
      return await network.call({
        from: worker,
        to: address.name,
        what: () => what,
        timeoutMs,
        mayRepeat,
        serve: async () => {
          world.trace.say(address.name, () => `gets of ${worker.name}: ${what}`);
          return copied(await serve(address.protocol(), address));
        },
      });
    } catch (error) {
      // What the server said is no reason to leave it, but for one that cannot work.
      if (!isAnswer(error)) next(used);
      throw error;
    }
  }

  return {
    checkpointsText: (ref, body) =>
      call(`checkpoints ${shortly(body)}`, async (server) => {
        const { items } = JSON.parse(body) as { items: CheckpointItem[] };
        // A server may write and not live to say so.
        writes.checkpoints(ref, items, []);
        const answers = await server.checkpoints(ref, items);
        writes.checkpoints(ref, items, answers);
        return answers as CheckpointAnswer[];
      }),
    progressText: (ref, execution_id, body) =>
      call("progress", async (server) => {
        const batch = JSON.parse(body) as Parameters<WorkerProtocol["progress"]>[2];
        return writes.progress(ref, { execution_id, generation: batch.generation }, () =>
          server.progress(ref, execution_id, batch),
        );
      }),
    eventsText: (ref, execution_id, page) =>
      call("events", async (server) => {
        const { events } = await server.events(ref, execution_id, page);
        return JSON.stringify({ events });
      }),
    leaveServer: () => next(current),
    async register(registration) {
      const { credential } = parts;
      const register = (shown: string | undefined) =>
        call("register", (_, address) => address.register(copied(registration), shown));
      const registered = await register(idOf(credential.token)).catch((error: unknown) => {
        const isRevoked = codeOf(error) === "unauthenticated" && credential.token !== undefined;
        if (!isRevoked) throw error;
        // Its line was revoked: it joins as it did at first (AUTH-52).
        return register(undefined);
      });
      if (registered.credential) credential.token = registered.credential.token;
      return registered;
    },
    connect: (ref, running, onFrame) => connect(ref, copied(running), onFrame),
    heartbeat: (ref, heartbeat) =>
      call("heartbeat", (server) => server.heartbeat(ref, copied(heartbeat)), {
        timeoutMs: HEARTBEAT_MS,
      }),
    async poll(ref, poll) {
      const timeoutMs = TIMEOUT_MS + poll.wait_seconds * 1000;
      const serve = async (server: WorkerProtocol, { name }: ServerAddress) => {
        const frames = await server.poll(ref, copied(poll));
        parts.onSent(frames, name);
        return frames;
      };
      const frames = await call("poll", serve, { timeoutMs, mayRepeat: false });
      for (const frame of frames) {
        world.trace.say(worker.name, () => `hears in a poll: ${frameText(world, frame)}`);
        // The worker may have given up this poll by then, and what was answered to it.
        parts.onFrame(frame, true);
      }
      return frames;
    },
    release: (ref, items) =>
      call("release", async (server) => {
        const answers = await server.release(ref, copied(items));
        writes.releases(ref, items, answers);
        return answers as ReleaseAnswer[];
      }),
    module: (ref, hash) => call("module", (server) => server.module(ref, hash)),
    saveValue: (ref, id, value) => call("saveValue", (server) => server.saveValue(ref, id, value)),
    loadValue: (ref, id, value) => call("loadValue", (server) => server.loadValue(ref, id, value)),
    cacheLookup: (ref, id, asked) =>
      call("cacheLookup", (server) => server.cacheLookup(ref, id, asked)),
    cacheKeep: (ref, id, entry) => call("cacheKeep", (server) => server.cacheKeep(ref, id, entry)),
    executionToken: (ref, id, of) =>
      call("executionToken", (server) => server.executionToken(ref, id, of)),
    secrets: (ref, id, asked) => call("secrets", (server) => server.secrets(ref, id, asked)),
    configs: (ref, id, asked) => call("configs", (server) => server.configs(ref, id, asked)),
    disconnect: (ref) => call("disconnect", (server) => server.disconnect(ref)),
  };

  async function connect(
    ref: SessionRef,
    running: Parameters<WorkerProtocol["connect"]>[1],
    onFrame: (frame: WorkerFrame) => void,
  ): Promise<WorkerConnection> {
    const address = addresses[current] as ServerAddress;
    const tell = (frame: WorkerFrame) => {
      parts.onFrame(frame, false);
      onFrame(frame);
    };
    const connection = openConnection({ network, worker, address, tell, world });
    const serve = async (server: WorkerProtocol) => {
      const process = address.process();
      const send = (frame: WorkerFrame) => {
        parts.onSent([frame], address.name);
        connection.send(frame);
      };
      connection.serverSide(process, await server.connect(ref, running, send));
    };
    try {
      await call("connect", serve, { timeoutMs: CONNECT_MS, mayRepeat: false });
    } catch (error) {
      connection.close();
      throw error;
    }
    connection.open();
    return connection;
  }
}

function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && code !== "unavailable";
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** The id within a credential of the form `engine_wk_<id>_<secret>`. */
function idOf(token: string | undefined): string | undefined {
  return token?.split("_")[2];
}

function shortly(body: string): string {
  const types = [...body.matchAll(/"type":"([A-Z_]+)"/g)].map(([, type]) => type);
  return types.join(" ");
}
