import { expect, test } from "vitest";
import { PrincipalRefs } from "./principal-refs.ts";

/** A store of principals that says how often, and for whom, it was asked. */
function kept(count: number) {
  const asked: (readonly string[])[] = [];
  const refs = async (ids: readonly string[]) => {
    asked.push(ids);
    return ids
      .filter((id) => Number(id) <= count)
      .map(
        (id) => ({ id, subject: `bot-${id}`, issuer: "engine", type: "service_account" }) as const,
      );
  };
  return { asked, refs: new PrincipalRefs({ store: { principalRefs: { refs } } }) };
}

const bot = (n: number) => ({ subject: `bot-${n}`, issuer: "engine", type: "service_account" });

test("AUTH-34 without authorization records name nobody, and the store is not asked", async () => {
  const { asked, refs } = kept(9);
  const row = { started_by: null, run_as: null };
  expect(refs.known(row)?.(null)).toBeNull();
  expect((await refs.of([row, row]))(null)).toBeNull();
  expect(asked).toEqual([]);
});

test("AUTH-34 whoever is named in a page of records is asked for once, and remembered", async () => {
  const { asked, refs } = kept(9);
  const rows = [
    { started_by: "1", run_as: "2" },
    { started_by: "1", run_as: null },
    { started_by: "3", run_as: "3" },
  ];
  expect(refs.known(rows[0] ?? expect.unreachable())).toBeUndefined();
  const who = await refs.of(rows);
  expect([who("1"), who("2"), who("3"), who(null)]).toEqual([bot(1), bot(2), bot(3), null]);
  expect(asked).toEqual([["1", "2", "3"]]);
  await refs.of([{ started_by: "2", run_as: "4" }]);
  expect(asked.slice(1)).toEqual([["4"]]);
  expect(refs.known({ started_by: "4", run_as: "1" })?.("4")).toEqual(bot(4));
  expect(asked).toHaveLength(2);
});

test("AUTH-34 a page names everybody in it, also those that are forgotten while it is made", async () => {
  const { refs } = kept(20_000);
  const first = { started_by: "1", run_as: null };
  await refs.of([first]);
  const page = refs.of([first, { started_by: "2", run_as: null }]);
  const many = Array.from({ length: 10_000 }, (_, i) => ({ started_by: `${i + 3}`, run_as: null }));
  await refs.of(many);
  const who = await page;
  expect([who("1"), who("2")]).toEqual([bot(1), bot(2)]);
  expect((await refs.of(many))("10002")).toEqual(bot(10_002));
});
