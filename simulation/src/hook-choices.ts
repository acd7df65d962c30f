import type { HookUpdate, Json } from "@engine/contract";
import type { Engine } from "@engine/server";
import { operatorCall } from "./accounts.ts";
import { GUEST, GUEST_NAMESPACES } from "./programs/guest-source.ts";
import { HOOKED_WORKFLOWS } from "./programs/hooked.ts";
import type { Random } from "./random.ts";

/** Something that is done to a hook, or to what it has left to start. */
export interface HookChoice {
  readonly at: number;
  readonly name: string;
  readonly deed:
    | "create"
    | "enable"
    | "disable"
    | "delete"
    /** It gets other selectors. */
    | "select"
    /** It gets another workflow, account or number of tries. */
    | "direct"
    /** A dead delivery of it is tried anew; all of them. */
    | "retry"
    | "retry_all"
    | "test"
    /** Somebody reads what it has started, and may do more with that. */
    | "read"
    /** Somebody starts with what a target was started with. */
    | "hand_on";
  readonly selectors: readonly string[];
  readonly workflow: string;
  /** Which of the accounts. */
  readonly account: number;
  readonly max_attempts: number;
  /** Something else about it, from 0 to below 1. */
  readonly drawn: number;
}

const NAMES = ["page", "tell", "echo"];
const DEEDS: readonly HookChoice["deed"][] = [
  ...(["disable", "disable", "enable", "enable", "enable", "select", "select", "direct"] as const),
  ...(["retry", "retry_all", "retry_all", "test", "read", "read", "delete", "create"] as const),
  ...(["hand_on"] as const),
];

/** What nearly every execution does, and what some do. */
const COMMON = [
  ...["execution:default:program:created", "execution:default:program:claimed"],
  ...["execution:*:program:running", "execution:default:program:completed"],
  ...["task:default:program:plain:*", "task:*:program:undoable:started"],
];
const RARE = [
  ...["execution:default:*:failed", "execution:*:*:paused", "execution:*:program:resuming"],
  ...["execution:*:*:signaled", "execution:*:*:cancelled", "execution:default:*:cancelling"],
  ...["task:*:*:undoable:*", "task:*:*:pause:*", "execution:*:guest:*", "task:*:*:call:started"],
  ...["task:default:*:*:retry_started", "task:*:*:*:rollback_completed"],
  ...["task:default:*:signal:completed:*", "execution:default:limited_program:*"],
];
/** Of what hooks start. */
const OF_TARGETS = [
  ...["execution:default:hooked_program:completed", "execution:*:hooked_parent:completed"],
  ...["execution:default:*:completed", "task:*:hooked_program:plain:started"],
];
/** All that some executions do: where hooks fire for what they start, it would never end. */
const WIDE = ["execution:*", "task:*", "execution:default:program:*", "task:*:program:*"];

/** Some hooks early, and what becomes of them. */
export function hookChoicesOf(
  random: Random,
  { stretch, hop_limit }: { readonly stretch: number; readonly hop_limit: number },
): HookChoice[] {
  const draw = (name: string, deed: HookChoice["deed"], at: number): HookChoice => ({
    ...{ at: Math.round(at), name, deed },
    selectors: selectorsOf(random, hop_limit),
    workflow: workflowOf(random, deed),
    account: random.below(3),
    max_attempts: random.pick([1, 2, 5]),
    drawn: random.next(),
  });
  const made = 1 + random.below(2);
  const count = 2 + random.below(6);
  const planned = [
    ...Array.from({ length: made }, (_, i) =>
      draw(NAMES[i] as string, "create", random.chance(0.6) ? 0 : random.next() ** 2 * stretch),
    ),
    ...Array.from({ length: count }, () =>
      draw(
        random.chance(0.9) ? (NAMES[random.below(made)] as string) : "echo",
        random.pick(DEEDS),
        random.next() * stretch,
      ),
    ),
  ];
  return planned.sort((a, b) => a.at - b.at);
}

function selectorsOf(random: Random, hop_limit: number): string[] {
  // Several of those that fire for what they start multiply with each hop.
  const one = (isFirst: boolean) => {
    const drawn = random.next();
    if (drawn < 0.3 && isFirst) return random.pick(OF_TARGETS);
    if (drawn > 0.9 && hop_limit === 1) return random.pick(WIDE);
    return random.pick(drawn < 0.7 ? COMMON : RARE);
  };
  return Array.from({ length: random.chance(0.3) ? 1 : 2 + random.below(3) }, (_, i) =>
    one(i === 0),
  );
}

/** A hook whose workflow is not there now is not made: guests come to those that are. */
function workflowOf(random: Random, deed: HookChoice["deed"]): string {
  const drawn = random.next();
  if (drawn < 0.3 && deed === "direct") return `${random.pick(GUEST_NAMESPACES)}/${GUEST}`;
  return `default/${HOOKED_WORKFLOWS[drawn < 0.7 ? 0 : 1]}`;
}

/** What somebody reads or retries at a time. */
const PAGE = 50;

/**
 * As the routes of hooks do it.
 *
 * @param by.accounts How many there are.
 * @returns Executions that whoever asks has been told of.
 */
export async function applyHook(
  choice: HookChoice,
  { hooks, executions }: Pick<Engine, "hooks" | "executions">,
  { accounts, by }: { readonly accounts: number; readonly by: string | null },
): Promise<readonly string[]> {
  const { name, deed, selectors, workflow, max_attempts, drawn } = choice;
  const principal = accounts > 0 ? `account-${1 + (choice.account % accounts)}` : "somebody";
  const asked = { call: operatorCall(`hooks.${deed}`), allow: () => {} };
  const update = async (change: HookUpdate) => {
    await hooks.update(name, change, asked);
    return [];
  };
  switch (deed) {
    case "create": {
      // Some are made before they are to count.
      const enabled = drawn < 0.85;
      await hooks.create(
        { name, selectors: [...selectors], workflow, principal, max_attempts, enabled },
        asked,
      );
      return [];
    }
    case "enable":
      return update({ enabled: true });
    case "disable":
      return update({ enabled: false });
    case "select":
      return update({ selectors: [...selectors] });
    case "direct":
      return update({ workflow, principal, max_attempts });
    case "delete":
      await hooks.delete(name, asked.call);
      return [];
    case "retry": {
      const { items } = await hooks.deliveries(name, { status: "dead", limit: PAGE, offset: 0 });
      const one = items[Math.floor(drawn * items.length)];
      if (one) await hooks.retry(name, one.id, asked);
      return [];
    }
    case "retry_all":
      await hooks.retryMany(name, { limit: 1 + Math.floor(drawn * PAGE) }, asked);
      return [];
    case "test":
      return [(await hooks.test(name, {}, asked)).execution_id];
    case "hand_on": {
      const page = { limit: PAGE, offset: 0 };
      const { items } = await hooks.deliveries(name, { status: "delivered", ...page });
      const one = items[Math.floor(drawn * items.length)];
      if (!one) return [];
      const { envelope } = await hooks.delivery(name, one.id);
      const input = JSON.parse(envelope) as Json;
      const of = { namespace: "default", workflow: HOOKED_WORKFLOWS[0], input };
      const { row } = await executions.start({ ...of, trigger: { kind: "api" }, by });
      return [row.execution_id];
    }
    case "read": {
      const { items } = await hooks.deliveries(name, { limit: PAGE, offset: 0 });
      return items.flatMap(({ execution_id }) => execution_id ?? []);
    }
  }
}
