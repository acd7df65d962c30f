import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { AnyJson, type Json, notFound, rightsOf } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { answer } from "./reply.ts";

const row = { method: "POST", effect: "write", summary: "-" } as const;
const routes = {
  notes: {
    put: {
      ...row,
      path: "/shelves/{shelf}/{note}",
      permission: { kind: "grant", grant: "note:{room}:write" },
      query: z.strictObject({ times: z.coerce.number().optional() }),
      body: AnyJson,
      bodyLimit: "value",
      answers: { 200: z.array(z.string()) },
    },
  },
} as const satisfies RouteTable;

/** Shelves are in rooms, which the path does not name. */
const ROOMS: Readonly<Record<string, string>> = { poems: "attic", bills: "office" };

async function served() {
  const asked: string[] = [];
  const app = createApp({
    routes,
    handlers: {
      notes: {
        put: ({ params, body }) => {
          asked.push("handled");
          return answer(200, [params.note, JSON.stringify(body)]);
        },
      },
    },
    befores: {
      notes: {
        put: async ({ params: { shelf }, query }, { permit }) => {
          asked.push(`before ${shelf} ${query.times}`);
          const { [shelf]: room } = ROOMS;
          if (room === undefined) throw notFound("shelf", shelf);
          permit.demand({ room });
        },
      },
    },
    authorize: () => ({ principal: "ann", rights: rightsOf(["note:attic:write"]) }),
    log: { error() {} } as never,
    ids: () => "r",
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const put = async (path: string, body: string) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...{ method: "POST", body, headers },
    });
    const answered = (await response.json()) as { error: { details: Json } };
    return [response.status, answered] as const;
  };
  return { port, asked, put };
}

test("what a path names and who may have it is settled before a body is read, and counts for the handler", async () => {
  const { put, asked } = await served();
  expect(await put("/shelves/poems/one?times=2", "1")).toEqual([200, ["one", "1"]]);
  expect(asked.splice(0)).toEqual(["before poems 2", "handled"]);
  const [missing] = await put("/shelves/none/one", "{");
  const [denied, refusal] = await put("/shelves/bills/one", "{");
  const [broken] = await put("/shelves/poems/one", "{");
  expect([missing, denied, broken]).toEqual([404, 403, 400]);
  expect(refusal.error.details).toEqual({ missing_permissions: ["note:office:write"] });
  expect(asked).not.toContain("handled");
});

test("a query that is wrong is told before what the path names is looked for", async () => {
  const { put, asked } = await served();
  const [status, body] = await put("/shelves/none/one?times=x", "1");
  expect([status, body.error.details]).toMatchObject([422, { issues: [{ path: "query.times" }] }]);
  expect(asked).toEqual([]);
});

test("a body that has not come yet is not waited for where the answer is known", async () => {
  const { port } = await served();
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(
    "POST /shelves/none/one HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1\.1 404 /);
});
