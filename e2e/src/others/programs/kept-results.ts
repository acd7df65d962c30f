import { map, sleep, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";

interface Asked {
  /** Others keep nothing for this one. */
  readonly of: string;
  readonly what: string;
  readonly noise?: number;
}

const looksUp = task({ name: "looks_up", cache: { ttl: "1h" } }, async ({ what }: Asked, ctx) => {
  await did(ctx, `looks up ${what}`);
  return what === "nothing" ? null : `${what} found`;
});

const byWhat = task(
  { name: "by_what", cache: { key: ({ of, what }: Asked) => [of, what] } },
  async ({ what, noise }: Asked, ctx) => {
    await did(ctx, `by what ${what} ${noise}`);
    return noise;
  },
);

const fallible = task({ name: "fallible", cache: true }, async ({ what }: Asked, ctx) => {
  await did(ctx, `fallible ${what}`);
  throw new Error("not this time");
});

const brief = task({ name: "brief", cache: { ttl: 300 } }, async ({ what }: Asked, ctx) => {
  await did(ctx, `brief ${what}`);
  return what;
});

export const looksUpOnce = workflow({ name: "looks_up_once" }, async (_, ctx) => {
  const of = ctx.executionId;
  const first = await looksUp({ of, what: "tea" });
  await sleep(15);
  const second = await looksUp({ of, what: "tea" });
  const nothing = [await looksUp({ of, what: "nothing" }), await looksUp({ of, what: "nothing" })];
  return [first, second, ...nothing];
});

export const keysOfItsOwn = workflow({ name: "keys_of_its_own" }, async (_, ctx) => {
  const of = ctx.executionId;
  const values: unknown[] = [];
  for (const noise of [1, 2, 3]) values.push(await byWhat({ of, what: "same", noise }));
  values.push(await byWhat({ of, what: "other", noise: 4 }));
  return values;
});

export const keepsNoFailure = workflow({ name: "keeps_no_failure" }, async (_, ctx) => {
  const of = ctx.executionId;
  return map(["a", "a"], (what) => fallible({ of, what }).catch((error: Error) => error.message), {
    concurrency: 1,
  });
});

export const keepsForAWhile = workflow({ name: "keeps_for_a_while" }, async (_, ctx) => {
  const of = ctx.executionId;
  await brief({ of, what: "x" });
  await sleep(900);
  return brief({ of, what: "x" });
});

export const keptResults: Programs = {
  looks_up_once: {
    sees: "a result that is kept is not worked out again, also when it is nothing",
    output: ["tea found", "tea found", null, null],
    did: ["looks up tea", "looks up nothing"],
  },
  keys_of_its_own: {
    sees: "a key of the author's own decides which inputs share a result",
    output: [1, 1, 1, 4],
    did: ["by what same 1", "by what other 4"],
  },
  keeps_no_failure: {
    sees: "an error is not kept: the next call is tried",
    output: ["not this time", "not this time"],
    did: ["fallible a", "fallible a"],
  },
  keeps_for_a_while: {
    sees: "a result is worked out again when its time is over",
    output: "x",
    did: ["brief x", "brief x"],
  },
};
