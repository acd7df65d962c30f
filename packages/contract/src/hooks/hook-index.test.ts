import * as fc from "fast-check";
import { expect, test } from "vitest";
import { gives } from "../auth/grants.ts";
import { type EnabledHook, type EventKey, HookIndex, NO_HOOKS } from "./hook-index.ts";
import { parseHookSelector } from "./selector.ts";
import { HOOK_DOMAINS, HOOK_SEGMENTS } from "./vocabulary.ts";

function hook(name: string, ...selectors: string[]): EnabledHook {
  return { id: `id of ${name}`, name, selectors };
}

function keyOf(text: string): EventKey {
  const [domain, ...rest] = text.split(":");
  const known = HOOK_DOMAINS.find((one) => one === domain) ?? expect.unreachable(text);
  return { domain: known, segment: rest.at(-1) ?? "", names: rest.slice(0, -1) };
}

/** Names of the hooks that an event fires, each with the selector that it fires by. */
function matches(hooks: readonly EnabledHook[], key: string): (readonly [string, string])[] {
  const found = new HookIndex(hooks).match(keyOf(key));
  return found.map(({ hook: { name }, selector }) => [name, selector] as const);
}

test("HOOK-6 a * at the end matches any number of segments, one elsewhere exactly one", () => {
  const hooks = [
    hook("all", "execution:*"),
    hook("of-shop", "execution:shop:*"),
    hook("any-workflow", "execution:shop:*:failed"),
    hook("exact", "execution:shop:checkout:failed"),
    hook("zero-left", "execution:shop:checkout:failed:*"),
    hook("paused", "execution:*:*:paused"),
    hook("other-shop", "execution:shop2:*"),
    hook("tasks", "task:*"),
  ];
  expect(matches(hooks, "execution:shop:checkout:failed").map(([name]) => name)).toEqual([
    "all",
    "of-shop",
    "any-workflow",
    "exact",
    "zero-left",
  ]);
  expect(matches(hooks, "task:shop:checkout:charge:failed").map(([name]) => name)).toEqual([
    "tasks",
  ]);
});

test("HOOK-6 matching is case-sensitive", () => {
  expect(matches([hook("a", "execution:Shop:*")], "execution:shop:x:failed")).toEqual([]);
});

test("HOOK-10 a hook fires once for an event, by the first of its selectors that matches", () => {
  const selectors = ["execution:a:*:paused", "execution:*:b:failed", "execution:a:b:*"];
  const hooks = [hook("z", ...selectors), hook("a", ...selectors.toReversed())];
  expect(matches(hooks, "execution:a:b:failed")).toEqual([
    ["z", "execution:*:b:failed"],
    ["a", "execution:a:b:*"],
  ]);
});

test("a selector that no version of the vocabulary knows fires for nothing and harms nothing", () => {
  const hooks = [hook("old", "execution:a:b:melted", "execution:a:b:failed")];
  expect(matches(hooks, "execution:a:b:melted")).toEqual([]);
  expect(matches(hooks, "execution:a:b:failed")).toEqual([["old", "execution:a:b:failed"]]);
});

test("HOOK-11 without a hook there is nothing to look at", () => {
  expect(NO_HOOKS.isEmpty).toBe(true);
  expect(NO_HOOKS.match(keyOf("execution:a:b:failed"))).toEqual([]);
});

/** How many places are looked at for an event. */
function visits(hooks: readonly EnabledHook[], key: string): number {
  let count = 0;
  const index = new HookIndex(hooks, () => count++);
  expect(index.match(keyOf(key))).toEqual([]);
  return count;
}

const THOUSANDS = Array.from({ length: 10_000 }, (_, i) => i);

test("HOOK-11 an event that matches nothing costs with 10,000 hooks what it costs with one", () => {
  const selectors = (i: number) => [
    `execution:team${i % 100}:workflow${i}:failed`,
    `execution:*:workflow${i}:paused`,
    `task:team${i % 100}:*:task${i}:failed`,
    `task:*:*:task${i}:completed`,
  ];
  const one = [hook("h0", ...selectors(0))];
  const many = THOUSANDS.map((i) => hook(`h${i}`, ...selectors(i)));
  for (const key of [
    "execution:other:thing:failed",
    "execution:other:thing:paused",
    "execution:other:thing:created",
    "execution:team0:thing:failed",
    "task:other:thing:step:failed",
    "task:team0:thing:step:failed",
    "task:team0:thing:step:completed",
    "task:team0:thing:step:started",
  ]) {
    expect(visits(many, key), key).toBeLessThanOrEqual(2 * visits(one, key));
  }
  // No hook asks for starts: that much is known before a name is looked at.
  expect(visits(many, "task:team0:thing:step:started")).toBe(1);
});

test("HOOK-11 hooks made to have every branch there is cost no more than one with all their shapes", () => {
  const shapes = ["*", "a"].flatMap((namespace) =>
    ["*", "b"].flatMap((workflow) =>
      ["failed", "*"].map((word) => (i: number) => `task:${namespace}:${workflow}:t${i}:${word}`),
    ),
  );
  const one = [hook("one", ...shapes.map((shape) => shape(0)))];
  const many = THOUSANDS.map((i) => hook(`h${i}`, shapes[i % shapes.length]?.(i) ?? ""));
  expect(visits(many, "task:a:b:none:failed")).toBe(visits(one, "task:a:b:none:failed"));
  expect(visits(many, "task:a:b:none:failed")).toBeLessThanOrEqual(31);
});

const names = fc.constantFrom("a", "b", "A", "a.b", "pause");
const key = fc
  .tuple(
    fc.constantFrom(...HOOK_DOMAINS),
    fc.array(names, { minLength: 3, maxLength: 3 }),
    fc.nat(),
  )
  .map(([domain, [ns = "", wf = "", task = ""], i]) => {
    const words = HOOK_SEGMENTS[domain];
    // Few of them, so that keys and selectors meet.
    const word = words[i % Math.min(4, words.length)] ?? "";
    return domain === "execution"
      ? `execution:${ns}:${wf}:${word}`
      : `task:${ns}:${wf}:${task}:${word}`;
  });
/** A key in which some segments are any, and from which some at the end are missing or more. */
const selector = fc
  .tuple(key, fc.array(fc.boolean(), { maxLength: 5 }), fc.option(fc.nat(5)))
  .map(([text, anys, cut]) => {
    const segments = text.split(":").map((segment, i) => (i > 0 && anys[i] ? "*" : segment));
    return cut === null
      ? segments.join(":")
      : [...segments.slice(0, Math.max(1, cut)), "*"].join(":");
  });

test("HOOK-6 HOOK-10 the index answers what the permission rule says of each selector alone", () => {
  let found = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(selector, { minLength: 1, maxLength: 6 }), { maxLength: 12 }),
      fc.array(key, { minLength: 1, maxLength: 6 }),
      (lists, keys) => {
        const hooks = lists.map((selectors, i) => hook(`h${i}`, ...selectors));
        for (const text of lists.flat())
          expect(parseHookSelector(text).refusal, text).toBeUndefined();
        for (const text of keys) {
          const expected = hooks.flatMap(({ name, selectors }) => {
            const first = selectors.find((one) => gives(one, text));
            return first === undefined ? [] : [[name, first]];
          });
          expect(matches(hooks, text)).toEqual(expected);
          found += expected.length;
        }
      },
    ),
  );
  expect(found).toBeGreaterThan(0);
});
