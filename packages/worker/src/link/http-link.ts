import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import {
  EngineError,
  ExecutionToken,
  HeartbeatAnswer,
  type Json,
  ProgressAccepted,
  type ReleaseAnswer,
  type SessionRef,
  StoredReference,
  type WorkerConnection,
  WorkerCredential,
  type WorkerFrame,
  WorkerRegistered,
} from "@engine/contract";
import { createParser } from "eventsource-parser";
import { hasCode } from "../transient.ts";
import { createRequests, type HttpCall, textOf } from "./http-request.ts";
import { CheckpointStreams } from "./line-stream.ts";
import type { OwnCredential } from "./own-credential.ts";
import type { TextLink } from "./text-link.ts";

/** In characters. A server does not keep more than 64 MiB for a stream either (WRK-7). */
const LONGEST_FRAME = 64 * 1024 * 1024;

export interface HttpLinkOptions {
  /**
   * Where the server is: `http://127.0.0.1:8000`; https and a path prefix work too. Of several
   * addresses one is used for as long as it answers, then the next.
   */
  readonly baseUrl: string | readonly string[];
  /** How long a call may take before it counts as network trouble. */
  readonly timeoutMs?: number;
  /**
   * The same for heartbeats. A server that hangs must not hold them up: the next try goes by another
   * connection, and so perhaps to another server.
   */
  readonly heartbeatTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** How long a checkpoint stream may take to begin before plain requests are used instead. */
  readonly streamBeginMs?: number;
  /** What the worker proves itself with; servers without authorization ask for nothing. */
  readonly credential?: OwnCredential;
  /** Told once that credentials leave this machine without TLS (NET-6). */
  readonly warn?: (message: string) => void;
}

/**
 * The worker protocol over HTTP. Small answers are checked against the contract. Answers to
 * checkpoints and polls, and frames, are not: they are the hot path, their values can be large, and
 * the server that wrote them speaks the protocol number that registration agreed on.
 */
export function httpLink(options: HttpLinkOptions): TextLink {
  const { baseUrl, timeoutMs = 30_000, streamBeginMs = 3_000 } = options;
  const heartbeatMs = Math.min(options.heartbeatTimeoutMs ?? 5_000, timeoutMs);
  const connectMs = Math.min(options.connectTimeoutMs ?? 10_000, timeoutMs);
  const { credential, warn } = options;
  const token = () => credential?.token;
  const limits = { timeoutMs, streamBeginMs, token, ...(warn && { warn }) };
  const { send, openLines, leaveServer } = createRequests([baseUrl].flat(), limits);
  const text = async (call: HttpCall) => textOf(await send(call));
  const json = async (call: HttpCall): Promise<unknown> => JSON.parse(await text(call));
  const post = (ref: SessionRef, path: string, body: unknown, ownMs?: number) =>
    json({ method: "POST", ...at(ref, path), body: JSON.stringify(body), timeoutMs: ownMs });
  const get = (ref: SessionRef, path: string) => text({ method: "GET", ...at(ref, path) });

  const streams = new CheckpointStreams({
    open: (ref) => openLines(at(ref, "checkpoints/stream")),
    plain: (ref, body) => json({ method: "POST", ...at(ref, "checkpoints"), body }),
  });

  return {
    checkpointsText: (ref, body) => streams.send(ref, body),
    async progressText(ref, execution_id, body) {
      const where = at(ref, `progress/${encodeURIComponent(execution_id)}`);
      return ProgressAccepted.parse(await json({ method: "POST", ...where, body }));
    },
    async eventsText(ref, execution_id, { generation, after, limit }) {
      const query = `generation=${generation}&after=${after}&limit=${limit}`;
      const path = of(execution_id, `events?${query}`);
      const page = await get(ref, path);
      if (!page.startsWith('{"events":['))
        throw new Error(`GET ${at(ref, path).path} was not answered by events`);
      return page;
    },
    leaveServer() {
      leaveServer();
      streams.close();
    },
    async register(registration) {
      const body = JSON.stringify(registration);
      const register = (shown: string | undefined) =>
        json({ method: "POST", path: "/workers/register", body, token: shown });
      const answer = await inTurn(credential?.candidates() ?? [], register);
      const registered = WorkerRegistered.parse(answer);
      credential?.keep(registered.credential);
      return registered;
    },
    ...(credential && {
      credential,
      async renewCredential(worker: string) {
        const path = `/workers/${encodeURIComponent(worker)}/credential`;
        credential.keep(WorkerCredential.parse(await json({ method: "POST", path })));
      },
    }),
    async connect(ref, running, onFrame) {
      const call = { method: "POST", ...at(ref, "connect"), timeoutMs: connectMs } as const;
      return openStream(await send({ ...call, body: JSON.stringify({ running }) }), onFrame);
    },
    heartbeat: async (ref, heartbeat) =>
      HeartbeatAnswer.parse(await post(ref, "heartbeat", heartbeat, heartbeatMs)),
    async poll(ref, poll) {
      // The server keeps its answer back on top of the time that any call may take.
      const answer = await post(ref, "poll", poll, timeoutMs + poll.wait_seconds * 1000);
      return (answer as { frames: readonly WorkerFrame[] }).frames;
    },
    release: async (ref, items) =>
      ((await post(ref, "release", { items })) as { items: ReleaseAnswer[] }).items,
    module: (ref, hash) => get(ref, `modules/${encodeURIComponent(hash)}`),
    async saveValue(ref, execution_id, { generation, text: value, hidden }) {
      const sha256 = hash("sha256", value);
      const where = at(ref, of(execution_id, `values/${sha256}?generation=${generation}`));
      const body = JSON.stringify({ text: value, ...(hidden && { hidden }) });
      return StoredReference.parse(await json({ method: "PUT", ...where, body }));
    },
    loadValue(ref, execution_id, { generation, reference_id }) {
      const slash = reference_id.lastIndexOf("/");
      const sha256 = encodeURIComponent(reference_id.slice(slash + 1));
      const maker = encodeURIComponent(reference_id.slice(0, slash));
      const query = `generation=${generation}&of=${maker}`;
      return get(ref, of(execution_id, `values/${sha256}?${query}`));
    },
    async cacheLookup(ref, execution_id, { generation, key }) {
      const answer = await post(ref, of(execution_id, "cache"), { generation, ...key });
      const { hit, value } = answer as { hit: boolean; value?: Json };
      return { text: hit ? JSON.stringify(value) : null };
    },
    async cacheKeep(ref, execution_id, { generation, key, text: value, ttl_ms }) {
      const entry = JSON.stringify({ generation, ...key, ttl_ms });
      const body = `${entry.slice(0, -1)},"value":${value}}`;
      (await send({ method: "PUT", ...at(ref, of(execution_id, "cache")), body })).resume();
    },
    executionToken: async (ref, execution_id, { generation }) =>
      ExecutionToken.parse(await post(ref, of(execution_id, "token"), { generation })),
    secrets: async (ref, execution_id, asked) =>
      (await post(ref, "secrets/batch", { execution_id, ...asked })) as Record<string, Json>,
    configs: async (ref, execution_id, asked) =>
      (await post(ref, "configs/batch", { execution_id, ...asked })) as Record<string, Json>,
    async disconnect(ref) {
      streams.close();
      (await send({ method: "POST", ...at(ref, "disconnect") })).resume();
    },
  };
}

/**
 * Tries one credential after the other, moving on where one does not count (AUTH-52).
 *
 * @throws EngineError `unauthenticated` once none is left.
 */
async function inTurn<Answer>(
  candidates: readonly string[],
  register: (token: string | undefined) => Promise<Answer>,
): Promise<Answer> {
  for (const token of candidates.length > 0 ? candidates : [undefined]) {
    try {
      return await register(token);
    } catch (error) {
      if (!hasCode(error, "unauthenticated")) throw error;
    }
  }
  const what = candidates.length > 0 ? "none of this worker's counts" : "this worker has none";
  throw new EngineError(
    "unauthenticated",
    `it asks for a credential, and ${what}; make a join token with \`npx engine server join-token\` and give it as ENGINE_WORKERS__JOIN_TOKEN or in a file as engine.workers.join_token_file`,
  );
}

/** Where a call of a session goes, and in whose name. */
function at({ worker, session }: SessionRef, path: string): { path: string; session: string } {
  return { path: `/workers/${encodeURIComponent(worker)}/${path}`, session };
}

/** The path of a call on behalf of an execution. */
function of(execution_id: string, path: string): string {
  return `executions/${encodeURIComponent(execution_id)}/${path}`;
}

function openStream(
  response: IncomingMessage,
  onFrame: (frame: WorkerFrame) => void,
): WorkerConnection {
  // The stream is silent between frames: the worker watches that itself, by heartbeats.
  response.socket.setTimeout(0);
  let open = true;
  const parser = createParser({
    maxBufferSize: LONGEST_FRAME,
    onEvent({ event, data }) {
      if (!open) return;
      const frame = frameOf(event, data);
      if (frame) onFrame(frame);
      else response.destroy();
    },
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") response.destroy();
    },
  });
  const closed = Promise.withResolvers<void>();
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    if (!response.destroyed) parser.feed(chunk);
  });
  response.on("error", () => {});
  response.on("close", closed.resolve);
  return {
    close() {
      open = false;
      response.destroy();
    },
    closed: closed.promise,
  };
}

/** Undefined where the data is not JSON: a stream that carries it is of no use and is opened anew. */
function frameOf(event: string | undefined, data: string): WorkerFrame | undefined {
  try {
    return { event, data: JSON.parse(data) } as WorkerFrame;
  } catch {
    return undefined;
  }
}
