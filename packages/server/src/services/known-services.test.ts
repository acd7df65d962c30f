import type { ResolvedService } from "@engine/contract";
import { expect, test } from "vitest";
import { type Asker, KnownServices } from "./known-services.ts";

const SERVICE: ResolvedService = {
  ...{ id: "s", name: "shop", description: null, mcp_enabled: true },
  ...{ namespaces: [], workflows: [], exclusions: [], endpoints: [], collisions: [] },
  ...{ created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" },
  unmatched: { namespaces: [], workflows: [], exclusions: [] },
};

/** A server that answers as a test says, and notes with which tag it was asked. */
function server() {
  const asked: (string | undefined)[] = [];
  let etag = '"1"';
  const change = (tag: string) => {
    etag = tag;
  };
  const asker = (authorization?: string): Asker => ({
    authorization,
    send: async (_, { headers }) => {
      const known = headers["if-none-match"];
      asked.push(known);
      const status = known === etag ? 304 : 200;
      return {
        ...{ status, headers: { get: () => etag }, body: null },
        text: async () => (status === 304 ? "" : JSON.stringify(SERVICE)),
      };
    },
  });
  return { asked, asker, change };
}

test("MCP-19 a service is asked for each time, as the caller, and read again only where it has changed", async () => {
  const { asked, asker, change } = server();
  const masks = {};
  const known = new KnownServices(() => masks);
  const first = await known.get("shop", asker("Bearer a"));
  expect(await known.get("shop", asker("Bearer a"))).toBe(first);
  // Another caller may be told something else.
  await known.get("shop", asker("Bearer b"));
  await known.get("shop", asker());
  change('"2"');
  expect(await known.get("shop", asker("Bearer a"))).not.toBe(first);
  expect(asked).toEqual([undefined, '"1"', undefined, undefined, '"1"']);
});

test("RED-3 what was told before something was masked is not told again", async () => {
  const { asked, asker } = server();
  let masks: object | undefined = {};
  const known = new KnownServices(() => masks);
  await known.get("shop", asker());
  masks = {};
  await known.get("shop", asker());
  // Nor where nobody can say at once what is masked.
  masks = undefined;
  await known.get("shop", asker());
  await known.get("shop", asker());
  expect(asked).toEqual([undefined, undefined, undefined, undefined]);
});
