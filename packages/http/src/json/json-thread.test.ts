import { afterEach, expect, test } from "vitest";
import { scanThread } from "./scan-thread.ts";

const thread = scanThread();

afterEach(() => thread.close());

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

const nested = `[${"[],".repeat(1_000_000)}[]]`;
const scan = (text: string) => thread.run({ bytes: bytesOf(text) });

test("a text comes back as it was sent, with what is known of it", async () => {
  const { bytes, scanned } = await scan(nested);
  expect(Buffer.from(bytes).toString()).toBe(nested);
  expect(scanned).toMatchObject({ values: 1_000_002, depth: 2, hasProto: false });
});

test("a text that is refused does not stop those behind it, and one behind another waits its turn", async () => {
  const all = ['{"a":1', "[1]", '{"b":', "null"].map(scan);
  const outcomes = await Promise.allSettled(all);
  expect(outcomes.map(({ status }) => status)).toEqual([
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect((outcomes[0] as PromiseRejectedResult).reason).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("line 1, column 7"),
  });
});

test("a thread that has ended is followed by another one", async () => {
  await scan("1");
  await thread.close();
  expect((await scan("[2]")).scanned.values).toBe(2);
});

test("what waits for a thread that is closed is sent away, to try again", async () => {
  const all = Promise.allSettled([nested, "1"].map(scan));
  await thread.close();
  const refused = { status: "rejected", reason: expect.objectContaining({ code: "unavailable" }) };
  expect(await all).toEqual([refused, refused]);
});
