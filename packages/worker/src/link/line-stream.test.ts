import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EngineError, SESSION_HEADER } from "@engine/contract";
import { expect, test } from "vitest";
import { isTransient } from "../transient.ts";
import { httpLink } from "./http-link.ts";

const ref = { worker: "builder", session: "secret" };
const BODY = '{"items":[]}';
const ANSWER = { items: [{ execution_id: "e", seq: 3, state: "RUNNING", generation: 1 }] };

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** @param streamBeginMs How long a stream may take to begin: only where none ever does, it is short. */
async function listen(handle: Handle, streamBeginMs = 30_000) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    link: httpLink({ baseUrl: `http://127.0.0.1:${port}`, streamBeginMs }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const isStream = (request: IncomingMessage) => request.url?.endsWith("/checkpoints/stream");

/** Answers every line; `answer` says with what, undefined cuts the connection. */
const answering =
  (answer: (line: string) => unknown): Handle =>
  (request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.flushHeaders();
    request.on("data", (chunk: Buffer) => {
      const value = answer(chunk.toString().trimEnd());
      if (value === undefined) request.socket.destroy();
      else response.write(`${JSON.stringify(value)}\n`);
    });
  };

const plainly: Handle = (request, response) => {
  request.resume();
  request.on("end", () => response.end(JSON.stringify(ANSWER)));
};

test("checkpoints go as lines of one request that stays open", async () => {
  const lines: string[] = [];
  const answer = (line: string) => {
    lines.push(line);
    return ANSWER;
  };
  await using server = await listen(answering(answer));
  for (let i = 0; i < 3; i++) {
    expect(await server.link.checkpointsText(ref, BODY)).toEqual(ANSWER.items);
  }
  expect(lines).toEqual([BODY, BODY, BODY]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/workers/builder/checkpoints/stream"]);
  expect(server.requests[0]?.headers[SESSION_HEADER]).toBe("secret");
});

test("lanes that send at the same time have a stream each", async () => {
  await using server = await listen(answering(() => ANSWER));
  await Promise.all([1, 2].map(() => server.link.checkpointsText(ref, BODY)));
  await Promise.all([1, 2].map(() => server.link.checkpointsText(ref, BODY)));
  expect(server.requests).toHaveLength(2);
});

test("a refused line is thrown under its code, and the stream goes on", async () => {
  const answers: unknown[] = [
    new EngineError("session_superseded", "another process").toBody(),
    ANSWER,
  ];
  await using server = await listen(answering(() => answers.shift()));
  const first = server.link.checkpointsText(ref, BODY);
  await expect(first).rejects.toMatchObject({ code: "session_superseded" });
  expect(await server.link.checkpointsText(ref, BODY)).toEqual(ANSWER.items);
  expect(server.requests).toHaveLength(1);
});

test("a cut stream is trouble on the way, and the next checkpoint opens another", async () => {
  const answers: unknown[] = [ANSWER, undefined, ANSWER];
  await using server = await listen(answering(() => answers.shift()));
  await server.link.checkpointsText(ref, BODY);
  const error = await server.link.checkpointsText(ref, BODY).catch((thrown: unknown) => thrown);
  expect(isTransient(error)).toBe(true);
  expect(await server.link.checkpointsText(ref, BODY)).toEqual(ANSWER.items);
  expect(server.requests).toHaveLength(2);
});

test("a session refused when the stream opens is thrown under its code, without another try", async () => {
  await using server = await listen((_, response) => {
    const error = new EngineError("session_unknown", "no such session");
    response.writeHead(error.status).end(JSON.stringify(error.toBody()));
  });
  const sent = server.link.checkpointsText(ref, BODY);
  await expect(sent).rejects.toMatchObject({ code: "session_unknown" });
  expect(server.requests).toHaveLength(1);
});

test("behind a proxy that holds requests back until they end, plain requests are used", async () => {
  await using server = await listen(plainly, 40);
  expect(await server.link.checkpointsText(ref, BODY)).toEqual(ANSWER.items);
  expect(await server.link.checkpointsText(ref, BODY)).toEqual(ANSWER.items);
  expect(server.requests.map(isStream)).toEqual([true, false, false]);
});

test("WRK-13 a link that leaves a server uses none of its streams again, also one that is busy", async () => {
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let lines = 0;
  await using server = await listen((request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.flushHeaders();
    request.on("data", () => {
      void answers[lines++]?.promise.then(() => response.write(`${JSON.stringify(ANSWER)}\n`));
    });
  });
  const busy = server.link.checkpointsText(ref, BODY);
  server.link.leaveServer();
  answers[0]?.resolve();
  expect(await busy).toEqual(ANSWER.items);
  answers[1]?.resolve();
  await server.link.checkpointsText(ref, BODY);
  expect(server.requests).toHaveLength(2);
});
