import type { EpochName, Store, StoredVersion } from "@engine/store";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";
import { endpointsOf, refOf } from "./service-view.ts";
import { ServiceViews } from "./service-views.ts";

const source = (name: string) =>
  `import { workflow } from "@engine/sdk";
export const it = workflow({ name: "${name}", namespace: "billing" }, async (input) => input);
`;
const CALL = {
  ...{ caller: { principal: null }, action: "test", address: undefined, request_id: "r" },
};
const fresh = { namespaces: ["billing"], workflows: [], exclusions: [], mcp_enabled: false };

const offered = async (t: TestEngine): Promise<readonly string[]> =>
  endpointsOf(await t.engine.services.view("billing")).map(refOf);
const register = (t: TestEngine, name: string) =>
  t.engine.catalog.register({ source: source(name) }, { by: null });

test("SVC-5 what is registered, deleted or chosen is seen by the next request", async () => {
  await using t = await TestEngine.start();
  await t.engine.services.create({ name: "billing", ...fresh }, CALL);
  expect(await offered(t)).toEqual([]);
  await register(t, "invoice");
  expect(await offered(t)).toEqual(["billing/invoice"]);
  await register(t, "refund");
  await t.engine.services.change("billing", { add_exclusions: ["billing/invoice"] }, CALL);
  expect(await offered(t)).toEqual(["billing/refund"]);
  await t.engine.catalog.delete("billing", "refund");
  expect(await offered(t)).toEqual([]);
  await t.engine.services.delete("billing", CALL);
  await expect(offered(t)).rejects.toMatchObject({ details: { resource: "service" } });
});

test("SVC-5 another server hears of a change, and one whose news is lost knows within a second", async () => {
  await using servers = await TwoServers.start();
  const { a, b } = servers;
  await a.engine.services.create({ name: "billing", ...fresh }, CALL);
  await register(a, "invoice");
  await settled();
  expect(await offered(b)).toEqual(["billing/invoice"]);
  await register(a, "refund");
  await settled();
  expect(await offered(b)).toEqual(["billing/invoice", "billing/refund"]);

  servers.hears = false;
  await a.engine.services.change("billing", { add_exclusions: ["billing/refund"] }, CALL);
  await register(a, "payout");
  await settled();
  await servers.time.advance(1_000);
  expect(await offered(b)).toEqual(["billing/invoice", "billing/payout"]);
  await a.engine.services.delete("billing", CALL);
  await servers.time.advance(1_000);
  await expect(offered(b)).rejects.toMatchObject({ code: "not_found" });
});

/** A store that answers when the test says so, and counts how often it is asked. */
function slowStore() {
  let row: object | undefined = { name: "billing", ...fresh };
  const asked: PromiseWithResolvers<readonly StoredVersion[]>[] = [];
  const listeners: (() => void)[] = [];
  const store = {
    services: { find: async () => row },
    catalog: {
      chosen: () => {
        const answer = Promise.withResolvers<readonly StoredVersion[]>();
        asked.push(answer);
        return answer.promise;
      },
    },
  } as unknown as Store;
  let isCurrent = true;
  const epochs = {
    current: async () => isCurrent,
    onChange: (_: EpochName, then: () => void) => {
      listeners.push(then);
      return () => {};
    },
  };
  const catalog = { onChange: (then: () => void) => void listeners.push(then) };
  const views = new ServiceViews({ ports: { store }, epochs, catalog });
  return {
    asked,
    views,
    change: () => {
      for (const then of listeners) then();
    },
    away: () => {
      isCurrent = false;
    },
    /** Changes the service; undefined: it is deleted. */
    write: (choice: object | undefined) => {
      row = choice && { name: "billing", ...fresh, ...choice };
    },
  };
}

const version = (name: string) =>
  ({ record: { namespace: "billing", name, version: 1 }, module_hash: "" }) as StoredVersion;

test("SVC-5 requests at once share one read, and none that comes after a change is answered by one before it", async () => {
  const { asked, views, change } = slowStore();
  const early = [views.find("billing"), views.find("billing")];
  await settled();
  expect(asked).toHaveLength(1);
  change();
  const late = views.find("billing");
  await settled();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve([version("new")]);
  asked[0]?.resolve([]);
  expect([...((await late)?.named.keys() ?? [])]).toEqual(["new"]);
  for (const view of await Promise.all(early)) expect(view?.named.size).toBe(0);
  // What was read before the change is not kept after it.
  expect((await views.find("billing"))?.named.size).toBe(1);
  expect(asked).toHaveLength(2);
});

test("SVC-5 a read that fails is not kept, and nothing is where nobody can say what has changed", async () => {
  const { asked, views, away } = slowStore();
  const failing = views.find("billing");
  await settled();
  asked[0]?.reject(new Error("away"));
  await expect(failing).rejects.toThrow("away");
  const again = views.find("billing");
  await settled();
  asked[1]?.resolve([]);
  await again;
  away();
  for (const n of [3, 4]) {
    const asking = views.find("billing");
    await settled();
    expect(asked).toHaveLength(n);
    asked[n - 1]?.resolve([]);
    await asking;
  }
});

test("SVC-4 SVC-5 a service that changes while its choice is read is told as it is at some moment, not as half of two", async () => {
  const { asked, views, write } = slowStore();
  const reading = views.find("billing");
  await settled();
  // Excluded before there was another of its name, so they never collide.
  write({ namespaces: ["billing", "west"], exclusions: ["billing/invoice"] });
  const west = { record: { namespace: "west", name: "invoice", version: 1 } } as StoredVersion;
  asked[0]?.resolve([version("invoice"), west]);
  await settled();
  asked[1]?.resolve([version("invoice"), west]);
  expect((await reading)?.named.get("invoice")).toEqual([west]);

  const other = slowStore();
  const gone = other.views.find("billing");
  await settled();
  other.write(undefined);
  other.asked[0]?.resolve([version("invoice")]);
  expect(await gone).toBeUndefined();
});
