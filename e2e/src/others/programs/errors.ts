import { call, TaskError, TerminalError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { echo, fails } from "./tasks.ts";

class OutOfStock extends Error {
  readonly item: string;

  constructor(item: string) {
    super(`${item} is out of stock`);
    this.item = item;
  }
}

const THROWN: Readonly<Record<string, () => unknown>> = {
  error: () => new Error("plain"),
  type_error: () => new TypeError("typed"),
  own: () => new OutOfStock("tea"),
  named: () => Object.assign(new Error("named"), { name: "Renamed" }),
  text: () => "just text",
  number: () => 42,
  bigint: () => 42n,
  nothing: () => undefined,
  null: () => null,
  object: () => ({ code: 7, why: "because" }),
  aggregate: () => new AggregateError([new Error("one"), new Error("two")], "several"),
  empty: () => new Error(""),
};

const throws = task({ name: "throws" }, async (what: string, ctx): Promise<never> => {
  await did(ctx, `throws ${what}`);
  throw THROWN[what]?.();
});

const throwsInLine = task({ name: "throws_in_line" }, (what: string): never => {
  throw THROWN[what]?.();
});

/** What a caller sees of an error, as data. */
function seen(error: unknown): unknown {
  if (!(error instanceof TaskError)) return `no TaskError: ${String(error)}`;
  return [error.failure.type, error.message];
}

export const everyKind = workflow({ name: "every_kind" }, async () => {
  const found: Record<string, unknown> = {};
  for (const what of Object.keys(THROWN)) found[what] = await throws(what).catch(seen);
  return found;
});

export const everyKindInLine = workflow({ name: "every_kind_in_line" }, async () => {
  const found: Record<string, unknown> = {};
  const all = Object.keys(THROWN).map(async (what) => {
    found[what] = await throwsInLine(what).catch(seen);
  });
  await Promise.all(all);
  return found;
});

export const bodyThrows = workflow({ name: "body_throws" }, async (what: string) => {
  await echo("before");
  throw THROWN[what]?.();
});

function deepest(): never {
  throw new RangeError("from deep below");
}
const deeper = () => deepest();

export const deepBelow = workflow({ name: "deep_below" }, async () => {
  await echo("before");
  deeper();
});

const withCauses = task({ name: "with_causes" }, async (_: unknown, ctx) => {
  await did(ctx, "with causes");
  let error = new Error("cause 0");
  for (let i = 1; i <= 8; i++) error = new Error(`cause ${i}`, { cause: error });
  throw error;
});

export const chainOfCauses = workflow({ name: "chain_of_causes" }, async () => {
  const messages: string[] = [];
  let at: unknown = await withCauses(null).catch((error: unknown) => error);
  for (; at instanceof Error; at = at.cause) messages.push(at.message);
  return messages.slice(0, 5);
});

export const errorAsCause = workflow({ name: "error_as_cause" }, async () => {
  try {
    await fails("root");
  } catch (error) {
    throw new Error("could not go on", { cause: error });
  }
});

export const thrownAgain = workflow({ name: "thrown_again" }, async () => {
  try {
    await throws("own");
  } catch (error) {
    await echo("noticed");
    throw error;
  }
});

export const caughtTwice = workflow({ name: "caught_twice" }, async () => {
  const failed = fails("once");
  const first = await failed.catch((error: Error) => error.message);
  const second = await failed.catch((error: Error) => error.message);
  return [first, second];
});

export const finallyRuns = workflow({ name: "finally_runs" }, async () => {
  const order: string[] = [];
  try {
    try {
      await fails("inside");
    } finally {
      order.push(await echo("finally"));
    }
  } catch (error) {
    order.push((error as Error).message);
  }
  return order;
});

export const finallyAtTheEnd = workflow({ name: "finally_at_the_end" }, async () => {
  try {
    await fails("inside");
  } finally {
    await echo("finally");
  }
});

export const finallyWins = workflow({ name: "finally_wins" }, async () => {
  try {
    await fails("first");
  } finally {
    await fails("second");
  }
});

export const recovers = workflow({ name: "recovers" }, async () => {
  try {
    return await fails("a");
  } catch (error) {
    return echo(`recovered from ${(error as Error).message}`);
  }
});

export const inBothBranches = workflow({ name: "in_both_branches" }, () =>
  Promise.all([echo("left"), fails("right").catch((error: Error) => echo({ why: error.message }))]),
);

export const finalError = workflow({ name: "final_error" }, async () => {
  await echo("before");
  throw new TerminalError("the end", { type: "TheEnd", details: { at: [1, { deep: true }] } });
});

export const ownErrorInBody = workflow({ name: "own_error_in_body" }, async () => {
  const check = (item: string) => {
    if (item === "tea") throw new OutOfStock(item);
  };
  try {
    check(await echo("tea"));
    return "nothing";
  } catch (error) {
    // An error of the body's own is what it was.
    return error instanceof OutOfStock ? echo(error.item) : "lost";
  }
});

export const givesAnError = workflow({ name: "gives_an_error" }, async () => {
  const error = await echo(new RangeError("only data", { cause: new Error("why") }));
  return [
    error instanceof Error,
    error.name,
    error.message,
    (error.cause as Error | undefined)?.message,
  ];
});

export const unhandled = workflow({ name: "unhandled" }, async () => {
  const first = echo("a");
  const second = (async () => {
    await Promise.resolve();
    throw new Error("nobody looked");
  })();
  await first;
  await second;
});

export const strayRejection = workflow({ name: "stray_rejection" }, async () => {
  // Nobody ever looks at it, which ends no workflow and no worker.
  void fails("stray");
  await echo("main");
  return "fine";
});

const large = task({ name: "large_message" }, async (size: number, ctx) => {
  await did(ctx, `large ${size}`);
  throw new Error("x".repeat(size));
});

export const largeMessage = workflow({ name: "large_message" }, () =>
  large(20_000).catch((error: Error) => error.message.length),
);

export const childOf = workflow({ name: "child_of" }, async (what: string) => {
  await throws(what);
});

export const throughAChild = workflow({ name: "through_a_child" }, async () => {
  const error = await call(childOf, "own").catch((error: TaskError) => error);
  return error instanceof TaskError && [error.failure.type, error.failure.cause?.type];
});

const notes = Object.keys(THROWN).map((what) => `throws ${what}`);
const KINDS = {
  error: ["Error", "plain"],
  type_error: ["TypeError", "typed"],
  own: ["OutOfStock", "tea is out of stock"],
  named: ["Renamed", "named"],
  text: ["NonError", "just text"],
  number: ["NonError", "42"],
  bigint: ["NonError", "42n"],
  nothing: ["NonError", "undefined"],
  null: ["NonError", "null"],
  object: ["NonError", '{"code":7,"why":"because"}'],
  aggregate: ["AggregateError", "several"],
  empty: ["Error", ""],
};

const bodies = Object.fromEntries(
  Object.keys(THROWN).map((what) => [
    `body_throws ${what}`,
    {
      workflow: "body_throws",
      sees: `a workflow that throws (${what}) has failed with what it threw`,
      input: what,
      failure: { type: KINDS[what as keyof typeof KINDS][0] as string },
      did: ["echo before"],
    },
  ]),
);

export const errors: Programs = {
  ...bodies,
  every_kind: {
    sees: "whatever a task throws, errors or not, its caller catches an error that says so",
    output: KINDS,
    did: notes,
  },
  every_kind_in_line: {
    sees: "the same at once, of tasks that throw before they give a promise",
    output: KINDS,
  },
  deep_below: {
    sees: "an error from deep below in the code fails the workflow as it was thrown",
    failure: { type: "RangeError", message: "from deep below" },
    did: ["echo before"],
  },
  chain_of_causes: {
    sees: "an error comes with its causes, the nearest first",
    output: ["cause 8", "cause 7", "cause 6", "cause 5", "cause 4"],
    did: ["with causes"],
  },
  error_as_cause: {
    sees: "a workflow that fails with another error tells the first one as its cause",
    failure: { message: "could not go on", cause: { message: "root" } },
    did: ["fails root"],
  },
  thrown_again: {
    sees: "an error that is caught and thrown again fails the workflow as it was",
    failure: { type: "OutOfStock", message: "tea is out of stock" },
    did: ["throws own", "echo noticed"],
  },
  caught_twice: {
    sees: "an error can be caught by all that wait for the call, which was made once",
    output: ["once", "once"],
    did: ["fails once"],
  },
  finally_runs: {
    sees: "what has to be done in any case is done before the error is caught",
    output: ["finally", "inside"],
    did: ["fails inside", "echo finally"],
  },
  finally_at_the_end: {
    sees: "what has to be done in any case is done before the workflow fails",
    failure: { message: "inside" },
    did: ["fails inside", "echo finally"],
  },
  finally_wins: {
    sees: "an error on the way out takes the place of the first one",
    failure: { message: "second" },
    did: ["fails first", "fails second"],
  },
  recovers: {
    sees: "a workflow that catches an error may do something else",
    output: "recovered from a",
    did: ["fails a", "echo recovered from a"],
  },
  in_both_branches: {
    sees: "a branch that catches its error does not disturb the other",
    output: ["left", { why: "right" }],
    didInAnyOrder: ["echo left", "fails right", 'echo {"why":"right"}'],
  },
  final_error: {
    sees: "a workflow may fail with a type and details of its own",
    failure: { type: "TheEnd", message: "the end", details: { at: [1, { deep: true }] } },
    did: ["echo before"],
  },
  own_error_in_body: {
    sees: "an error that the workflow's own code throws is of its own class where it is caught",
    output: "tea",
    did: ["echo tea", "echo tea"],
  },
  gives_an_error: {
    sees: "an error that is given back, and not thrown, is a value",
    output: [true, "RangeError", "only data", "why"],
  },
  unhandled: {
    sees: "an error that comes before anybody waits for it fails the workflow when it is waited for",
    failure: { message: "nobody looked" },
    did: ["echo a"],
  },
  stray_rejection: {
    sees: "a call that fails and that nobody waits for ends no workflow",
    output: "fine",
    didInAnyOrder: ["fails stray", "echo main"],
  },
  large_message: {
    sees: "a long message arrives in its full length",
    output: 20_000,
    did: ["large 20000"],
  },
  through_a_child: {
    sees: "an error of one's own is known by its name also through a child",
    output: ["ChildFailedError", "OutOfStock"],
    did: ["throws own"],
  },
};
