import { withGrants, withMetadata, withoutGrant, withoutMetadata } from "@engine/contract";
import { expect, test } from "vitest";
import type { Store } from "../../store.ts";
import { auditOf, identityWrite } from "../identity.ts";
import { type Open, opened } from "../opened.ts";
import { newSession } from "../sample.ts";

/** What operators say of names: metadata and granted services. */
export function attributesConformance(open: Open): void {
  test("WMD-1 metadata is read as it was written, text and numbers, merged or as a whole", async () => {
    const store = await opened(open);
    await begin(store, "w1", "1");
    const metadata = {
      ...{ "a.b-c_D": 'ü "quoted" \\ ,:{}', constructor: "", n: -1.5, big: 1e300, small: 5e-324 },
      ...{ zero: 0, half: "\ud800", true: "true", "9": "0" },
    };
    const put = (given: object, replace = false) =>
      store.workers.changeAttributes("w1", withMetadata({ metadata: { ...given }, replace }));
    expect((await put(metadata))?.attributes).toEqual({ metadata, granted: [], revision: 1 });
    const found = await store.workers.find("w1");
    expect(found?.attributes).toEqual({ metadata, granted: [], revision: 1 });
    expect(await store.workers.list()).toEqual([found]);
    const merged = await put({ n: "1", zone: "x" });
    const after = { ...metadata, n: "1", zone: "x" };
    expect(merged?.attributes).toMatchObject({ metadata: after, revision: 2 });
    expect((await put({ n: 1 }, true))?.attributes).toMatchObject({ metadata: { n: 1 } });
    // Text that looks like the number is another value.
    expect((await put({ n: "1" }))?.attributes).toMatchObject({
      metadata: { n: "1" },
      revision: 4,
    });
  });

  test("WMD-1 one key is removed, or all; with too many nothing changes", async () => {
    const store = await opened(open);
    await begin(store, "w1", "1");
    const change = (of: Parameters<Store["workers"]["changeAttributes"]>[1]) =>
      store.workers.changeAttributes("w1", of);
    const keys = (n: number, from = 0) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i + from}`, i]));
    await change(withMetadata({ metadata: keys(63), replace: false }));
    const two = { metadata: keys(2, 63), replace: false };
    await expect(change(withMetadata(two))).rejects.toMatchObject({
      code: "invalid_input",
      details: { issues: [{ path: "body.metadata" }] },
    });
    const kept = await store.workers.find("w1");
    expect(kept?.attributes).toEqual({ metadata: keys(63), granted: [], revision: 1 });
    const left = await change(withoutMetadata("k62"));
    expect(left?.attributes).toEqual({ metadata: keys(62), granted: [], revision: 2 });
    expect((await change(withMetadata(two)))?.attributes.revision).toBe(3);
    expect((await change(withoutMetadata()))?.attributes).toEqual({
      ...{ metadata: {}, granted: [], revision: 4 },
    });
  });

  test("WMD-2 each write of metadata or grants counts the revision up, what changes nothing does not", async () => {
    const store = await opened(open);
    await begin(store, "w1", "1");
    await begin(store, "w2", "2");
    const entry = (action: string) => identityWrite(action, { target: "w1" }).entry;
    const metadata = { zone: "a", tier: 1 };
    const steps = [
      ["put", withMetadata({ metadata, replace: false }), 1],
      ["same", withMetadata({ metadata: { tier: 1 }, replace: false }), 1],
      ["grant", withGrants(["inference", "cache"]), 2],
      ["granted already", withGrants(["cache"]), 2],
      ["revoke", withoutGrant("inference"), 3],
      ["revoked already", withoutGrant("inference"), 3],
      ["remove", withoutMetadata("tier"), 4],
      ["removed already", withoutMetadata("tier"), 4],
      ["clear", withoutMetadata(), 5],
      ["cleared already", withoutMetadata(), 5],
    ] as const;
    for (const [action, change, revision] of steps) {
      const worker = await store.workers.changeAttributes("w1", change, entry(action));
      expect(worker?.attributes.revision, action).toBe(revision);
    }
    expect((await store.workers.find("w1"))?.attributes).toEqual({
      ...{ metadata: {}, granted: ["cache"], revision: 5 },
    });
    expect((await store.workers.find("w2"))?.attributes.revision).toBe(0);
    const none = store.workers.changeAttributes("nobody", withGrants(["cache"]), entry("nobody"));
    expect(await none).toBeUndefined();
    // AUD-2: a row for each write, which says what it changed.
    const said = (before: unknown, after: unknown) => ({ before, after });
    expect((await auditOf(store)).map(({ action, changes }) => [action, changes])).toEqual([
      ["put", { metadata: said({}, metadata) }],
      ["grant", { granted: said([], ["cache", "inference"]) }],
      ["revoke", { granted: said(["cache", "inference"], ["cache"]) }],
      ["remove", { metadata: said({ tier: 1 }, {}) }],
      ["clear", { metadata: said({ zone: "a" }, {}) }],
    ]);
  });

  test("WMD-2 of writes that come together none is lost, and each is counted", async () => {
    const store = await opened(open);
    await begin(store, "w1", "1");
    const ns = Array.from({ length: 20 }, (_, i) => i);
    const written = await Promise.all(
      ns.map((n) =>
        store.workers.changeAttributes(
          "w1",
          n % 2
            ? withGrants([`s${n}`])
            : withMetadata({ metadata: { [`k${n}`]: n }, replace: false }),
        ),
      ),
    );
    const revisions = written.map((worker) => worker?.attributes.revision ?? 0);
    expect(revisions.toSorted((a, b) => a - b)).toEqual(ns.map((n) => n + 1));
    const found = (await store.workers.find("w1"))?.attributes;
    expect(Object.keys(found?.metadata ?? {})).toHaveLength(10);
    expect(found?.granted).toHaveLength(10);
  });

  test("WMD-1 what was said of a name outlives its sessions, and goes with the name", async () => {
    const store = await opened(open);
    const { session_id } = await begin(store, "w1", "1");
    await store.workers.changeAttributes("w1", () => ({
      ...{ metadata: { zone: "a" }, granted: ["inference"] },
    }));
    const said = { metadata: { zone: "a" }, granted: ["inference"], revision: 1 };
    await begin(store, "w1", "1");
    await begin(store, "w1", "2");
    expect((await store.workers.find("w1"))?.attributes).toEqual(said);
    await store.sessions.end("session-2", "disconnected");
    expect((await store.workers.find("w1"))?.attributes).toEqual(said);
    expect(await store.workers.delete("w1")).toBe(true);
    expect(await store.sessions.find(session_id)).toBeUndefined();
    await begin(store, "w1", "3");
    const anew = { metadata: {}, granted: [], revision: 0 };
    expect((await store.workers.find("w1"))?.attributes).toEqual(anew);
  });

  test("WMD-7 workers are found by the labels of services that they offer and were granted", async () => {
    const store = await opened(open);
    const grant = (name: string) => store.workers.changeAttributes(name, withGrants(["inference"]));
    await begin(store, "both", "1", { services: ["cache", "inference"], labels: { zone: "a" } });
    await begin(store, "offers", "2", { services: ["inference"] });
    await begin(store, "granted", "3", { services: ["infer"] });
    await grant("both");
    await grant("granted");
    const names = async (labels: Record<string, string>) =>
      (await store.workers.list({ labels })).map(({ name }) => name);
    expect(await names({ "engine.service.inference": "true" })).toEqual(["both"]);
    expect(await names({ "engine.service.inference": "true", zone: "a" })).toEqual(["both"]);
    expect(await names({ "engine.service.inference": "true", zone: "b" })).toEqual([]);
    expect(await names({ "engine.service.inference": "yes" })).toEqual([]);
    expect(await names({ "engine.service.cache": "true" })).toEqual([]);
    expect(await names({ "engine.service.": "true" })).toEqual([]);
    await store.workers.changeAttributes("both", withoutGrant("inference"));
    expect(await names({ "engine.service.inference": "true" })).toEqual([]);
  });
}

async function begin(
  store: Store,
  worker: string,
  process: string,
  fields: Parameters<typeof newSession>[1] = {},
) {
  const of = { worker, instance_id: process, ...fields };
  const { session } = await store.sessions.open(newSession(`session-${process}`, of));
  return session;
}
