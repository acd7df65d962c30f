import { expect, test } from "vitest";
import { TwoServers } from "../testing/two-servers.ts";

test("NET-3 a message that a newer server says in another way costs its news and nothing else", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  await t.a.store.replicas.announce?.(
    JSON.stringify({ from: "newer", message: { kind: "rows", changed: "all" } }),
  );
  const { execution_id } = await t.a.run();
  await t.time.advance(20);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});
