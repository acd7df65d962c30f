import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import {
  HeartbeatAnswer,
  type Json,
  type OwnCacheKey,
  ProgressAccepted,
  type ReleaseAnswer,
  type SessionRef,
  StoredReference,
  type WorkerConnection,
  type WorkerFrame,
  WorkerRegistered,
} from "@engine/contract";
import { createParser } from "eventsource-parser";
import { createRequests, type Send, textOf } from "./http-request.ts";
import { CheckpointStreams } from "./line-stream.ts";
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
}

/**
 * The worker protocol over HTTP. Small answers are checked against the contract. Answers to
 * checkpoints and polls, and frames, are not: they are the hot path, their values can be large, and the server
 * that wrote them speaks the protocol number that registration agreed on.
 */
export function httpLink(options: HttpLinkOptions): TextLink {
  const { baseUrl, timeoutMs = 30_000, streamBeginMs = 3_000 } = options;
  const { heartbeatTimeoutMs = 5_000, connectTimeoutMs = 10_000 } = options;
  const at = ({ worker }: SessionRef, path: string) =>
    `/workers/${encodeURIComponent(worker)}/${path}`;
  const of = (ref: SessionRef, execution_id: string, path: string) =>
    at(ref, `executions/${encodeURIComponent(execution_id)}/${path}`);
  const { send, openLines, leaveServer } = createRequests([baseUrl].flat(), {
    timeoutMs,
    streamBeginMs,
  });
  const call = async (
    method: "POST" | "PUT",
    path: string,
    session: string | undefined,
    body: string,
  ): Promise<unknown> =>
    JSON.parse(await textOf(await send({ method, path, body, ...(session && { session }) })));
  const post = (path: string, session: string | undefined, body: string) =>
    call("POST", path, session, body);

  const streams = new CheckpointStreams({
    open: (ref) => openLines(at(ref, "checkpoints/stream"), ref.session),
    plain: (ref, body) => post(at(ref, "checkpoints"), ref.session, body),
  });

  return {
    checkpointsText: (ref, body) => streams.send(ref, body),
    async progressText(ref, execution_id, body) {
      const path = at(ref, `progress/${encodeURIComponent(execution_id)}`);
      return ProgressAccepted.parse(await post(path, ref.session, body));
    },
    async eventsText(ref, execution_id, { generation, after, limit }) {
      const query = `generation=${generation}&after=${after}&limit=${limit}`;
      const path = of(ref, execution_id, `events?${query}`);
      const text = await textOf(await send({ method: "GET", path, session: ref.session }));
      if (!text.startsWith('{"events":['))
        throw new Error(`GET ${path} was not answered by events`);
      return text;
    },
    leaveServer() {
      leaveServer();
      streams.close();
    },
    async register(registration) {
      const body = JSON.stringify(registration);
      return WorkerRegistered.parse(await post("/workers/register", undefined, body));
    },
    connect(ref, running, onFrame) {
      const body = JSON.stringify({ running });
      const patient: Send = (call) => send({ ...call, patienceMs: connectTimeoutMs });
      return openStream(patient, at(ref, "connect"), ref, body, onFrame);
    },
    async heartbeat(ref, heartbeat) {
      const [path, body] = [at(ref, "heartbeat"), JSON.stringify(heartbeat)];
      const call = { method: "POST", path, session: ref.session, body } as const;
      const answer = await send({ ...call, patienceMs: heartbeatTimeoutMs });
      return HeartbeatAnswer.parse(JSON.parse(await textOf(answer)));
    },
    async poll(ref, poll) {
      const waitMs = poll.wait_seconds * 1000;
      const [path, body] = [at(ref, "poll"), JSON.stringify(poll)];
      const answer = await send({ method: "POST", path, session: ref.session, body, waitMs });
      return (JSON.parse(await textOf(answer)) as { frames: readonly WorkerFrame[] }).frames;
    },
    async release(ref, items) {
      const answer = await post(at(ref, "release"), ref.session, JSON.stringify({ items }));
      return (answer as { items: ReleaseAnswer[] }).items;
    },
    async module(ref, hash) {
      const path = at(ref, `modules/${encodeURIComponent(hash)}`);
      return textOf(await send({ method: "GET", path, session: ref.session }));
    },
    async saveValue(ref, execution_id, { generation, text }) {
      const sha256 = createHash("sha256").update(text).digest("hex");
      const path = of(ref, execution_id, `values/${sha256}?generation=${generation}`);
      return StoredReference.parse(await call("PUT", path, ref.session, JSON.stringify({ text })));
    },
    async loadValue(ref, execution_id, { generation, reference_id }) {
      const slash = reference_id.lastIndexOf("/");
      const sha256 = encodeURIComponent(reference_id.slice(slash + 1));
      const maker = encodeURIComponent(reference_id.slice(0, slash));
      const query = `generation=${generation}&of=${maker}`;
      const path = of(ref, execution_id, `values/${sha256}?${query}`);
      return textOf(await send({ method: "GET", path, session: ref.session }));
    },
    async cacheLookup(ref, execution_id, { generation, key }) {
      const body = JSON.stringify({ generation, ...ownPart(key) });
      const answer = await call("POST", of(ref, execution_id, "cache"), ref.session, body);
      const { hit, value } = answer as { hit: boolean; value?: Json };
      return { text: hit ? JSON.stringify(value) : null };
    },
    async cacheKeep(ref, execution_id, { generation, key, text, ttl_ms }) {
      const entry = JSON.stringify({ generation, ...ownPart(key), ttl_ms });
      const body = `${entry.slice(0, -1)},"value":${text}}`;
      const path = of(ref, execution_id, "cache");
      (await send({ method: "PUT", path, session: ref.session, body })).resume();
    },
    async disconnect(ref) {
      streams.close();
      const path = at(ref, "disconnect");
      const answer = await send({ method: "POST", path, session: ref.session });
      answer.resume();
    },
  };
}

/** The server takes the namespace from the execution. */
function ownPart({ task, version, digest }: OwnCacheKey): OwnCacheKey {
  return { task, version, digest };
}

async function openStream(
  send: Send,
  path: string,
  ref: SessionRef,
  body: string,
  onFrame: (frame: WorkerFrame) => void,
): Promise<WorkerConnection> {
  const response = await send({ method: "POST", path, session: ref.session, body });
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
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    if (!response.destroyed) parser.feed(chunk);
  });
  return {
    close() {
      open = false;
      response.destroy();
    },
    closed: ended(response),
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

function ended(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    response.on("error", () => {});
    response.on("close", resolve);
  });
}
