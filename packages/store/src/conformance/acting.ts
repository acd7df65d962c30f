import { decideCancel, EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import type { Store } from "../store.ts";
import { identityWrite, madePrincipal } from "./identity.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, executionId, NOW, newExecution } from "./sample.ts";

export function conformance(open: Open): void {
  test("AUTH-37 executions that have not ended are found by their principal, oldest first", async () => {
    const store = await opened(open);
    const { id: bot } = await madePrincipal(store, "bot", { id: "id of bot" });
    const { id: other } = await madePrincipal(store, "other", { id: "id of other" });
    const two = { version: 2, module_hash: "module-2" };
    await store.executions.create(newExecution(5, { by: bot }));
    await store.executions.create(newExecution(1, { by: bot, ...two }));
    await store.executions.create(newExecution(2, { by: bot }), claimant);
    await store.executions.create(newExecution(3, { by: other, namespace: "shop" }));
    await store.executions.create(newExecution(4));
    await store.executions.create(newExecution(6, { version: null, module_hash: null }));
    await store.executions.create(newExecution(7, { by: bot, run_as: null, workflow: "bye" }));
    await store.executions.create(newExecution(8, { by: bot }));
    await store.executions.change(executionId(8), (row) => {
      const cancel = { cause: "request", by: null, now: NOW, cancel_timeout_ms: 1 } as const;
      const verdict = decideCancel(row, { ...cancel, hasWorker: () => false });
      if (verdict instanceof EngineError) throw verdict;
      return verdict;
    });
    const hello = { namespace: "default", workflow: "hello", version: 1, module_hash: "module-1" };
    const bots = { subject: "bot" };
    const all = await store.acting.versions(bots);
    expect(all).toEqual([
      { ...hello, count: 2 },
      { ...hello, ...two, count: 1 },
    ]);
    const ids = async (...asked: Parameters<Store["acting"]["ofVersions"]>) =>
      (await store.acting.ofVersions(...asked)).map((one) => [one.execution_id, one.run_as]);
    expect(await ids(bots, all, 9)).toEqual([1, 2, 5].map((n) => [executionId(n), bot]));
    expect(await ids(bots, all, 2)).toEqual([1, 2].map((n) => [executionId(n), bot]));
    expect(await ids(bots, all.slice(0, 1), 9)).toEqual([2, 5].map((n) => [executionId(n), bot]));
    expect(await ids(bots, [], 9)).toEqual([]);

    const nobodys = { subject: null };
    expect(await store.acting.versions(nobodys)).toEqual([
      { ...hello, workflow: "bye", count: 1 },
      { ...hello, count: 1 },
    ]);
    expect(await store.acting.versions({ ...nobodys, workflow: "bye" })).toHaveLength(1);
    expect(await store.acting.versions({ subject: "other", namespace: "default" })).toEqual([]);
    const visible = [{ namespace: "shop" }];
    expect(await store.acting.versions({ subject: "other", visible })).toHaveLength(1);
    expect(await store.acting.versions({ ...bots, visible })).toEqual([]);
    expect(await store.acting.versions({ subject: "nobody" })).toEqual([]);

    // Those of a principal that is gone are still its own.
    await store.principals.delete(bot, { force: true }, identityWrite("principals.delete"));
    expect(await store.acting.versions(bots)).toEqual(all);
  });
}
