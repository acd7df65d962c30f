import { expect, test } from "vitest";
import { guardedServer } from "./testing/guarded-server.ts";

test("AUTH-4 AUTH-9 with the key in the file an admin is let in, and nobody without", async () => {
  const { adminKey = "", ask } = await guardedServer();
  expect(adminKey).toMatch(/^engine_sk_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  expect((await ask("/executions", adminKey)).status).toBe(200);
  const refused = await ask("/executions");
  expect(refused).toMatchObject({
    status: 401,
    body: { error: { code: "unauthenticated", details: { reason: "missing" } } },
  });
  expect((await ask("/executions", `${adminKey}x`)).body).toMatchObject({
    error: { details: { reason: "invalid" } },
  });
});
