import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerFrame } from "@engine/contract";
import { expect, test } from "vitest";
import { guardedServer } from "../auth/testing/guarded-server.ts";
import { joining } from "../auth/testing/joining-worker.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (input) => input);
`;

test("AUTH-58 a revoked credential ends the session; its execution goes to another worker, without a loss", async () => {
  const server = await guardedServer();
  const { adminKey, ask, store } = server;
  const { workers, epochs } = server.server.engine;
  const bootstrap = readFileSync(join(server.home, "bootstrap-token"), "utf8").trim();
  const connect = async (name: string) => {
    const { body } = await joining(server, name, bootstrap);
    const assigned = Promise.withResolvers<string>();
    const onFrame = ({ event, data }: WorkerFrame) => {
      if (event === "assign") assigned.resolve(data.execution_id);
    };
    const ref = { worker: name, session: body.session };
    const connection = await workers.connect(ref, [], onFrame);
    return { ref, connection, assigned: assigned.promise, token: body.credential.token };
  };
  await ask("/workflows", adminKey, { source: SOURCE });
  const first = await connect("w1");
  const { body } = await ask("/workflows/default/hello/run/async", adminKey, {});
  const { execution_id } = body;
  expect(await first.assigned).toBe(execution_id);
  const { generation } = (await store.executions.find(execution_id)) ?? { generation: 0 };

  const id = first.token.slice("engine_wk_".length, "engine_wk_".length + 12);
  const entry = (await store.audit.list({ limit: 1, offset: 0 })).items[0];
  if (!entry) throw new Error("the registration is not in the audit log");
  const { count: _, ...row } = entry;
  await store.workerCredentials.revoke(id, { ...row, id: "revoked", at: 1 });
  epochs.raised("identity");
  await first.connection.closed;

  const second = await connect("w2");
  expect(await second.assigned).toBe(execution_id);
  const checkpoint = { generation, base_seq: 1, state: "RUNNING" as const, events: [] };
  const late = workers.checkpoints(first.ref, [{ execution_id, ...checkpoint }]);
  await expect(late).rejects.toMatchObject({ code: "session_unknown" });
  expect(await store.executions.find(execution_id)).toMatchObject({ worker: "w2", losses: [] });
  expect((await joining(server, "w1", first.token)).status).toBe(401);
});
