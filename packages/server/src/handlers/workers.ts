import { createHash } from "node:crypto";
import {
  invalidField,
  type routes,
  SESSION_HEADER,
  type SessionRef,
  type WorkerFrame,
} from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import { LargeJson } from "@engine/http/json";
import type { Engine } from "../engine.ts";
import { FrameQueue } from "./frame-queue.ts";

const WORKER_HEADER = "x-engine-worker";

type SessionHeaders = { readonly [SESSION_HEADER]?: string | undefined };

export function workerHandlers({ workers }: Engine): Handlers<typeof routes.workers> {
  return {
    register: async ({ body }, call) => {
      const { registered, isNew } = await workers.open(body, call);
      return isNew ? answer(201, registered) : answer(200, registered);
    },
    credential: async ({ params }, call) =>
      answer(200, await workers.renewCredential(params.name, call)),
    connect: async ({ params, headers, body }, { signal }) => {
      const queue = new FrameQueue();
      const onFrame = (frame: WorkerFrame) => queue.push(frame);
      const session = ref(params.name, headers);
      const connection = await workers.connect(session, body.running, onFrame, queue);
      void connection.closed.then(() => queue.end());
      signal.addEventListener("abort", () => connection.close(), { once: true });
      if (signal.aborted) connection.close();
      return { frames: queue.frames(), cut: queue.overflow };
    },
    poll: async ({ params, headers, body }, { signal }) => {
      const frames = await workers.poll(ref(params.name, headers), body, { signal });
      return answer(200, { frames: [...frames] });
    },
    heartbeat: async ({ params, headers, body }) =>
      answer(200, await workers.heartbeat(ref(params.name, headers), body)),
    checkpoint: async ({ params: { id }, headers, body }, { caller: { identity } }) => {
      // A caller that has shown who it is need not say so.
      const { [WORKER_HEADER]: worker = identity?.subject, [SESSION_HEADER]: session = "" } =
        headers;
      return answer(200, await workers.checkpoint({ worker, session }, id, body));
    },
    checkpoints: async ({ params, headers, body }) => {
      const items = await workers.checkpoints(ref(params.name, headers), body.items);
      return answer(200, { items: [...items] });
    },
    checkpointLines: async ({ params, headers }) =>
      // An unknown session is refused as a request, before any line.
      ({ answerLine: await workers.openCheckpoints(ref(params.name, headers)) }),
    release: async ({ params, headers, body }) => {
      const items = await workers.release(ref(params.name, headers), body.items);
      return answer(200, { items: [...items] });
    },
    progress: async ({ params, headers, body }) => {
      const session = ref(params.name, headers);
      return answer(200, await workers.progress(session, params.execution_id, body));
    },
    module: async ({ params, headers }) => {
      const raw = await workers.module(ref(params.name, headers), params.hash);
      const cacheControl = "private, max-age=31536000, immutable";
      return { status: 200, raw, headers: { "cache-control": cacheControl } };
    },
    events: async ({ params, headers, query }) => {
      const page = await workers.events(ref(params.name, headers), params.id, query);
      return answer(200, { events: [...page.events], head: page.head });
    },
    saveValue: async ({ params: { name, id, sha256 }, headers, query, body }) => {
      refuseWrongHash(sha256, body.text);
      const value = { ...query, ...body };
      return answer(200, await workers.saveValue(ref(name, headers), id, value));
    },
    loadValue: async ({ params: { name, id, sha256 }, headers, query }) => {
      const { generation, of = id } = query;
      const value = { generation, reference_id: `${of}/${sha256}` };
      return { status: 200, raw: await workers.loadValue(ref(name, headers), id, value) };
    },
    cacheLookup: async ({ params: { name, id }, headers, body: { generation, ...key } }) => {
      const { text } = await workers.cacheLookup(ref(name, headers), id, { generation, key });
      // The text is not parsed only to be printed again: outputs may be large.
      const json = text === null ? '{"hit":false}' : `{"hit":true,"value":${text}}`;
      return { status: 200, raw: json };
    },
    cacheKeep: async ({ params: { name, id }, headers, body }) => {
      const { generation, value, ttl_ms, ...key } = body;
      const text = value instanceof LargeJson ? value.text : JSON.stringify(value);
      const entry = { generation, key, text, ttl_ms };
      await workers.cacheKeep(ref(name, headers), id, entry);
      return answer(204, undefined);
    },
    executionToken: async ({ params: { name, id }, headers, body }) =>
      answer(200, await workers.executionToken(ref(name, headers), id, body)),
    secrets: async ({ params, headers, body: { execution_id, ...asked } }) =>
      answer(200, { ...(await workers.secrets(ref(params.name, headers), execution_id, asked)) }),
    configs: async ({ params, headers, body: { execution_id, ...asked } }) =>
      answer(200, { ...(await workers.configs(ref(params.name, headers), execution_id, asked)) }),
    disconnect: async ({ params, headers }) => {
      await workers.disconnect(ref(params.name, headers));
      return answer(204, undefined);
    },
  };
}

function refuseWrongHash(sha256: string, text: string): void {
  if (createHash("sha256").update(text).digest("hex") === sha256) return;
  throw invalidField("path.sha256", "the text has another SHA-256 than the path says");
}

function ref(worker: string, headers: SessionHeaders): SessionRef {
  return { worker, session: headers[SESSION_HEADER] ?? "" };
}
