import { openPostgresStore, openSqliteStore, type Store } from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";
import { CALL, testRing } from "./testing/rings.ts";

const RING = testRing("k1");
const DAY_MS = 86_400_000;

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;

beforeAll(async () => {
  postgres = await startTestPostgres();
}, 60_000);

afterAll(() => postgres.stop());

/** An engine on a database of its own, which a test may also open as another server would. */
async function onDatabase(kind: "sqlite" | "postgres", ports: object = {}, config: object = {}) {
  const time = new ManualTime();
  const { clock } = time;
  const store: Store =
    kind === "sqlite"
      ? await openSqliteStore({ path: ":memory:", synchronous: "normal", clock })
      : await openPostgresStore({ url: await postgres.createDatabase(), clock });
  const all = { shared: { store, time }, ports: { ring: RING, ...ports } };
  const t = await TestEngine.start(config, all);
  onTestFinished(async () => {
    await t[Symbol.asyncDispose]();
    await store.close();
  });
  return t;
}

function put({ engine }: TestEngine, name: string, value: string, unmasked = false) {
  return engine.secrets.put(name, { value, unmasked }, CALL);
}

async function shown({ engine }: TestEngine, text: string): Promise<string> {
  return (await engine.masks.current()).text(text);
}

const MASK = "***REDACTED***";

describe.each(["sqlite", "postgres"] as const)("%s", (kind) => {
  test("RED-5 the answer to a PUT comes when the value is masked, at once and by those who ask at once", async () => {
    const t = await onDatabase(kind);
    await put(t, "a", "first password");
    expect(t.engine.masks.known()?.text("is first password")).toBe(`is ${MASK}`);
    await put(t, "b", "other password");
    expect(t.engine.masks.known()?.text("first password, other password")).toBe(`${MASK}, ${MASK}`);
  });

  test("RED-2 what was replaced or deleted stays masked for the days that logs are kept", async () => {
    const t = await onDatabase(kind, {}, { retention: { retention_days: 30 } });
    await put(t, "a", "first password");
    await put(t, "a", "second password");
    await put(t, "b", "third password");
    await t.engine.secrets.delete("b", CALL);
    const all = "first password, second password, third password";
    expect(await shown(t, all)).toBe(`${MASK}, ${MASK}, ${MASK}`);
    // Swept every hour.
    const days = async (count: number) => {
      t.time.now += count * DAY_MS;
      await t.time.advance(3_600_000);
    };
    await days(29);
    expect(await shown(t, all)).toBe(`${MASK}, ${MASK}, ${MASK}`);
    await days(1);
    await vi.waitFor(async () => {
      await settled();
      expect(await t.store.masks.list()).toHaveLength(1);
    });
    expect(await shown(t, all)).toBe(`first password, ${MASK}, third password`);
  });

  test("SEC-5 what need not be masked is not, then or later", async () => {
    const t = await onDatabase(kind);
    await put(t, "a", "region eu-west", true);
    expect(await shown(t, "region eu-west")).toBe("region eu-west");
    await put(t, "a", "second password");
    await put(t, "a", "third value", true);
    expect(await shown(t, "region eu-west, second password, third value")).toBe(
      `region eu-west, ${MASK}, third value`,
    );
  });

  test("AUTH-57 what another process writes is masked by whoever asks a second later", async () => {
    const t = await onDatabase(kind);
    expect(await shown(t, "first password")).toBe("first password");
    const other = await TestEngine.start(
      {},
      {
        shared: { store: t.store, time: t.time },
        ports: { ring: RING },
      },
    );
    await put(other, "a", "first password");
    await other.engine.close();
    await t.time.advance(1_000);
    expect(t.engine.masks.known()).toBeUndefined();
    expect(await shown(t, "first password")).toBe(MASK);
    expect(t.engine.masks.known()?.text("first password")).toBe(MASK);
  });

  test("RED-5 while the database is away nothing is known, and once it is back everything", async () => {
    const t = await onDatabase(kind);
    await put(t, "a", "first password");
    for (const away of ["epochs.read", "masks.list"] as const) {
      t.failing.add(away);
      await put(t, "b", `password of ${away}`).catch(() => undefined);
      await t.time.advance(1_000);
      expect(t.engine.masks.known()).toBeUndefined();
      await expect(t.engine.masks.current()).rejects.toMatchObject({
        ...{ code: "redaction_unavailable", status: 503 },
      });
      t.failing.delete(away);
      expect(await shown(t, `first password, password of ${away}`)).toBe(`${MASK}, ${MASK}`);
    }
  });
});

test("RED-5 a value that does not open makes everything unknown, which the log says once", async () => {
  const errors: string[] = [];
  const log = { ...silent, error: (_: object, message: string) => void errors.push(message) };
  const t = await onDatabase("sqlite", { log });
  await put(t, "a", "first password");
  const others = { shared: { store: t.store, time: t.time }, ports: { ring: testRing("k2") } };
  const other = await TestEngine.start({}, others);
  await put(other, "b", "other password").catch(() => undefined);
  await other.engine.close();
  await t.time.advance(1_000);
  for (let asks = 0; asks < 3; asks++) {
    await expect(t.engine.masks.current()).rejects.toMatchObject({ code: "redaction_unavailable" });
  }
  expect(errors).toEqual([expect.stringContaining("cannot be read")]);
  await t.engine.secrets.delete("b", CALL).catch(() => undefined);
  await t.store.masks.deleteRetired(t.time.now + 1, 10);
  await t.time.advance(1_000);
  expect(await shown(t, "first password")).toBe(MASK);
});

test("RED-5 without a key nothing is masked where nothing is secret, and nothing is known where something is", async () => {
  const t = await onDatabase("sqlite", { ring: undefined });
  expect(await shown(t, "first password")).toBe("first password");
  const other = await TestEngine.start(
    {},
    {
      shared: { store: t.store, time: t.time },
      ports: { ring: RING },
    },
  );
  await put(other, "a", "first password");
  await other.engine.close();
  await t.time.advance(1_000);
  await expect(t.engine.masks.current()).rejects.toMatchObject({ code: "redaction_unavailable" });
});

test("AUTH-57 of two servers the other one masks what it hears of at once, what it does not a second later", async () => {
  await using both = await TwoServers.start({}, { ring: RING });
  await both.b.engine.masks.current();
  await put(both.a, "a", "first password");
  await settled();
  expect(both.b.engine.masks.known()).toBeUndefined();
  expect(await shown(both.b, "first password")).toBe(MASK);
  both.hears = false;
  await put(both.a, "a", "second password");
  await both.time.advance(1_000);
  expect(await shown(both.b, "second password")).toBe(MASK);
});

test("RED-5 what is written while the values are read is masked by whoever asked before", async () => {
  const listed = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const t = await onDatabase("sqlite");
  await put(t, "a", "first password");
  await t.time.advance(1_000);
  const { list } = t.store.masks;
  let isSlow = true;
  const slow: Store["masks"]["list"] = async () => {
    const rows = await list();
    if (isSlow) {
      isSlow = false;
      listed.resolve();
      await mayGoOn.promise;
    }
    return rows;
  };
  Object.defineProperty(t.store.masks, "list", { value: slow });
  t.engine.epochs.raised("masks");
  const asked = shown(t, "second password");
  await listed.promise;
  const writing = put(t, "a", "second password");
  await settled();
  mayGoOn.resolve();
  await writing;
  expect(await asked).toBe(MASK);
});

test("RED-6 where masking is turned off nothing is masked, and the start says so", async () => {
  const warnings: string[] = [];
  const log = { ...silent, warn: (_: object, message: string) => void warnings.push(message) };
  const config = { security: { redaction: { enabled: false } } };
  const t = await onDatabase("sqlite", { log }, config);
  await put(t, "a", "first password");
  expect(t.engine.masks.known()?.text("first password")).toBe("first password");
  expect(await shown(t, "first password")).toBe("first password");
  expect(warnings).toEqual([expect.stringContaining("masking is turned off")]);
});
