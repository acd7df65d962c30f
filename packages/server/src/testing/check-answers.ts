/**
 * Every answer of every server that a test makes in its process is compared with the document, and
 * the test fails where they differ. Named by `vitest.config.ts`, so that no test has to ask for it.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { afterAll, afterEach, expect } from "vitest";
import type { AnswerCheck, Answered } from "../answer-check.ts";
import { unchecked } from "./unchecked.ts";

const misfits: string[] = [];
const pending = new Set<Promise<void>>();
let check: Promise<AnswerCheck> | undefined;

// Test files that share a process share its channels: each file listens for its own servers only.
subscribe("fastify.initialization", onServer);
afterAll(() => void unsubscribe("fastify.initialization", onServer));

function onServer(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook("onRequest", (request, reply, done) => {
    if (!unchecked.has(fastify)) watch(request, reply);
    done();
  });
}

afterEach(judge);
afterAll(judge);

async function judge(): Promise<void> {
  await Promise.all(pending);
  expect(misfits.splice(0)).toEqual([]);
}

function watch(request: FastifyRequest, { raw }: FastifyReply): void {
  const written = record(raw);
  raw.once("close", () => {
    const { method, url: path, routeOptions } = request;
    // A connection that broke before its answer has none.
    if (!raw.headersSent) return;
    const answer = { method, path, status: raw.statusCode, ...written() };
    const judged = compare(answer, routeOptions.url).finally(() => pending.delete(judged));
    pending.add(judged);
  });
}

/** Keeps what is written, also by those who write to the response themselves. */
function record(raw: ServerResponse): () => { type: string; text: string } {
  const chunks: Buffer[] = [];
  let type = "";
  const { write, end, writeHead } = raw;
  let isEnding = false;
  const keep = (chunk: unknown) => {
    // The response of an injected request writes its last chunk by `write`.
    if (isEnding) return;
    if (typeof chunk === "string") chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  Object.assign(raw, {
    writeHead(...args: Parameters<typeof writeHead>) {
      const headers = args.at(-1) as unknown as Readonly<Record<string, unknown>>;
      type = String(headers["content-type"] ?? raw.getHeader("content-type") ?? "");
      return writeHead.apply(raw, args);
    },
    write(...args: Parameters<typeof write>) {
      keep(args[0]);
      return write.apply(raw, args);
    },
    end(...args: Parameters<typeof end>) {
      keep(args[0]);
      isEnding = true;
      return end.apply(raw, args);
    },
  });
  return () => ({ type, text: Buffer.concat(chunks).toString() });
}

/** @param route As the router has it; undefined when it found none. */
async function compare(answer: Answered, route: string | undefined): Promise<void> {
  // Most test files make no server, and should not wait for what those with one need.
  check ??= import("../answer-check.ts").then(({ AnswerCheck }) => new AnswerCheck());
  const judge = await check;
  // A test may serve routes of its own.
  if (route !== undefined && !judge.knows(route.replace(/:(\w+)/g, "{$1}"))) return;
  const misfit = judge.misfit(answer);
  if (misfit !== undefined) misfits.push(misfit);
}
