import * as z from "zod";
import { parseDuration } from "../values/duration.ts";
import { isName, NAME_RULE } from "../values/name.ts";
import { argumentOf, atMost, Refused } from "./builder-arguments.ts";
import { type LimitDeclaration, ValueRef } from "./expression.ts";
import { refProblem } from "./term-checks.ts";

const MOST_IN_LIMIT = 100_000;
const SHORTEST_PERIOD_MS = 1_000;
const LONGEST_PERIOD_MS = 86_400_000;

const Count = z.int().min(1).max(MOST_IN_LIMIT);
const COUNT = `a whole number from 1 to ${MOST_IN_LIMIT}`;
const Keyed = z.strictObject({ key: ValueRef.optional() });
const KEYED = "{ key }, which is input(…) or routingInput(…)";
const ConcurrencyOptions = Keyed.extend({
  holdWhileWaiting: z.boolean().optional(),
  overflow: z.enum(["queue", "reject"]).optional(),
});

type Build = (values: readonly unknown[]) => LimitDeclaration;

/** The builders of option `limits` (FLW-1 to FLW-3). */
export const limitBuilders: Readonly<Record<"concurrency" | "rate" | "limit", Build>> = {
  concurrency: (values) => {
    const count = argumentOf(values, 0, Count, { builder: "concurrency", expected: COUNT });
    atMost(values, 2, "concurrency");
    const expected = `{ key, holdWhileWaiting, overflow }: a key is input(…) or routingInput(…), holdWhileWaiting true or false, overflow "queue" or "reject"`;
    const given = optionsOf(values, 1, ConcurrencyOptions, { builder: "concurrency", expected });
    return {
      kind: "concurrency",
      count,
      ...keyOf(given, 1),
      ...(given.holdWhileWaiting && { hold_while_waiting: true as const }),
      ...(given.overflow === "reject" && { overflow: "reject" as const }),
    };
  },
  rate: (values) => {
    const count = argumentOf(values, 0, Count, { builder: "rate", expected: COUNT });
    const period_ms = parseDuration(values[1]);
    const isPeriod = Period.safeParse(period_ms).success;
    if (!isPeriod) {
      const message = `rate() takes a period from a second to a day, such as "1m"`;
      throw new Refused(values[1] === undefined ? null : 1, message);
    }
    atMost(values, 3, "rate");
    const given = optionsOf(values, 2, Keyed, { builder: "rate", expected: KEYED });
    return { kind: "rate", count, period_ms: Number(period_ms), ...keyOf(given, 2) };
  },
  limit: (values) => {
    const name = values[0];
    if (typeof name !== "string" || !isName(name)) {
      const message = `limit() takes the name of a limit: ${NAME_RULE}`;
      throw new Refused(name === undefined ? null : 0, message);
    }
    atMost(values, 2, "limit");
    const given = optionsOf(values, 1, Keyed, { builder: "limit", expected: KEYED });
    return { kind: "limit", name, ...keyOf(given, 1) };
  },
};

const Period = z.int().min(SHORTEST_PERIOD_MS).max(LONGEST_PERIOD_MS);

function optionsOf<Form extends z.ZodType<{ key?: ValueRef | undefined }>>(
  values: readonly unknown[],
  at: number,
  form: Form,
  rule: { readonly builder: string; readonly expected: string },
): z.infer<Form> {
  return values[at] === undefined ? form.parse({}) : argumentOf(values, at, form, rule);
}

function keyOf({ key }: { key?: ValueRef | undefined }, argument: number): { key?: ValueRef } {
  if (key === undefined) return {};
  const problem = refProblem(key);
  if (problem !== undefined) throw new Refused([{ argument, option: "key", message: problem }]);
  return { key };
}
