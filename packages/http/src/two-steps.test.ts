import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import type { ErrorBody } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { AuthorizationRequest, Authorize, Caller } from "./authorize.ts";
import { createApp } from "./create-app.ts";
import type { Call, RouteTable } from "./handlers.ts";
import { answer } from "./reply.ts";

const row = { effect: "read", summary: "-" } as const;
const read = { kind: "grant", grant: "note:{shelf}:read" } as const;

const routes = {
  notes: {
    ofShelf: {
      ...row,
      method: "POST",
      path: "/shelves/{shelf}",
      permission: read,
      body: z.strictObject({ size: z.number() }),
      answers: { 200: z.object({ shelf: z.string() }) },
    },
    get: {
      ...row,
      method: "GET",
      path: "/notes/{id}",
      permission: read,
      frames: { note: z.unknown() },
      answers: { 200: z.object({ id: z.string() }) },
    },
    list: {
      ...row,
      method: "GET",
      path: "/notes",
      permission: { kind: "scoped", grant: "note:{shelf}:read" },
      answers: { 200: z.array(z.string()) },
    },
    talk: {
      ...row,
      method: "POST",
      path: "/notes/{id}/lines",
      permission: read,
      body: z.unknown(),
      lines: z.unknown(),
      answers: { 200: z.unknown() },
    },
  },
} as const satisfies RouteTable;

type Demand = (call: Call) => void | Promise<void>;

/** A table whose handlers demand what they are told to, for a caller who may read one shelf. */
function app(demand: Demand, caller: Caller = mayRead("a"), authorize: Authorize = () => caller) {
  const logged: unknown[] = [];
  const made = createApp({
    routes,
    handlers: {
      notes: {
        ofShelf: ({ params }) => answer(200, { shelf: params.shelf }),
        get: async ({ params: { id } }, call) => {
          await demand(call);
          if (id !== "stream") return answer(200, { id });
          return { frames: one() };
        },
        list: async (_, call) => {
          await demand(call);
          return answer(200, ["x"]);
        },
        talk: async (_, call) => {
          await demand(call);
          return { answerLine: async (line) => line };
        },
      },
    },
    log: { error: ({ err }) => void logged.push(err) },
    ids: () => "r",
    authorize,
  });
  return { app: made, logged };
}

async function* one() {
  yield { event: "note", data: 1 };
}

function mayRead(...shelves: string[]): Caller {
  return {
    principal: "ada",
    rights: {
      holds: (permission) => shelves.some((shelf) => permission === `note:${shelf}:read`),
      seenBy: () => shelves.map((shelf) => ({ shelf })),
    },
  };
}

test("AUTH-5 AUTH-10 what the path forbids is refused before the body is read, with what is missing", async () => {
  const { app: served } = app(() => undefined);
  const broken = { method: "POST", payload: "{" } as const;
  const refused = await served.inject({ ...broken, url: "/shelves/b" });
  expect(refused.statusCode).toBe(403);
  expect(refused.json<ErrorBody>().error).toEqual({
    code: "permission_denied",
    message: "the caller lacks note:b:read",
    details: { missing_permissions: ["note:b:read"] },
  });
  expect((await served.inject({ ...broken, url: "/shelves/a" })).statusCode).toBe(400);
});

test("AUTH-7 an answer that nobody demanded anything for is not sent, whoever asks", async () => {
  for (const caller of [{ principal: null }, mayRead("a")]) {
    const { app: served, logged } = app(() => undefined, caller);
    for (const url of ["/notes/1", "/notes/stream", "/notes"]) {
      const refused = await served.inject({ url });
      expect([url, refused.statusCode]).toEqual([url, 500]);
      expect(refused.json<ErrorBody>().error.code).toBe("internal");
    }
    const said = { method: "POST", url: "/notes/1/lines", payload: "1\n" } as const;
    const headers = { "content-type": "application/x-ndjson" };
    expect((await served.inject({ ...said, headers })).statusCode).toBe(500);
    expect(logged).toHaveLength(4);
    expect(String(logged[0])).toContain("GET /notes/{id} did not demand");
  }
});

test("AUTH-7 what the record decides is refused by the handler's demand, and answered after it", async () => {
  const of = (shelf: string) => app((call) => call.permit.demandOf(async () => ({ shelf }))).app;
  expect((await of("a").inject({ url: "/notes/1" })).json()).toEqual({ id: "1" });
  expect((await of("a").inject({ url: "/notes/stream" })).body).toContain("event: note");
  const refused = await of("b").inject({ url: "/notes/stream" });
  expect(refused.statusCode).toBe(403);
  expect(refused.json<ErrorBody>().error.details).toEqual({ missing_permissions: ["note:b:read"] });
});

test("AUTH-33 a list is refused to a caller who sees nothing of it, and told to its handler otherwise", async () => {
  const seen: unknown[] = [];
  const note: Demand = (call) => void seen.push(call.permit.seen("note"));
  expect((await app(note).app.inject({ url: "/notes" })).statusCode).toBe(200);
  expect((await app(note, { principal: null }).app.inject({ url: "/notes" })).statusCode).toBe(200);
  const refused = await app(note, mayRead()).app.inject({ url: "/notes" });
  expect(refused.json<ErrorBody>().error.details).toEqual({ missing_permissions: ["note:*:read"] });
  expect(seen).toEqual([[{ shelf: "a" }], undefined]);
});

test("AUTH-8 who asks is decided by the headers as they came, with those that Node drops", async () => {
  const asked: Partial<AuthorizationRequest>[] = [];
  const { app: served } = app(
    (call) => call.permit.demand({ shelf: "a" }),
    mayRead("a"),
    (_, request) => {
      asked.push({ ...request, address: request.address });
      return mayRead("a");
    },
  );
  onTestFinished(() => served.close());
  await served.listen({ host: "127.0.0.1", port: 0 });
  const { port } = served.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const tokens = "Authorization: Bearer one\r\nauthorization: Bearer two\r\n";
  socket.end(`GET /notes/1 HTTP/1.1\r\nHost: localhost\r\n${tokens}Connection: close\r\n\r\n`);
  const [chunk] = (await once(socket, "data")) as [Buffer];
  expect(chunk.toString()).toContain("200 OK");
  const [request] = asked;
  expect(request?.headers?.["authorization"]).toBe("Bearer one");
  expect(request?.raw_headers?.filter((text) => text.startsWith("Bearer"))).toEqual([
    "Bearer one",
    "Bearer two",
  ]);
  expect(request?.address).toBe("127.0.0.1");
});
