import type { Random } from "../harness/random.ts";

/** An execution that a worker of the fuzz run was given. */
export interface Claim {
  readonly worker: string;
  readonly execution_id: string;
  readonly generation: number;
  readonly head: number;
}

export interface Execution {
  readonly id: string;
  readonly workflow: string;
}

/** So many of each kind are remembered, the newest. */
const REMEMBERED = 60;

/** The workflow of those who mean well: none of its executions is touched. */
export const HONEST = "counting";

/** What requests can name so that they are about something: learned from the answers. */
export class Known {
  readonly executions: Execution[] = [];
  readonly claims: Claim[] = [];
  /** The secrets of the fuzz run's own workers, by name. */
  readonly sessions: Map<string, string> = new Map();
  readonly workflows = ["echo", "fails", "asks", "waits", "naps", "gone"] as const;
  readonly workers = ["fw-0", "fw-1", "fw-2"] as const;
  readonly schedules = ["s-0", "s-1", "s-2"] as const;

  /** Takes over what an answer tells: ids of executions, secrets, work for a worker. */
  learn(path: string, text: string): void {
    const records = /"execution_id":"([\w-]{36})","namespace":"default","workflow":"(\w+)"/g;
    for (const [, id = "", workflow = ""] of text.matchAll(records)) {
      if (workflow !== HONEST) remember(this.executions, { id, workflow });
    }
    const [, worker = "", session] =
      /"worker":\{"name":"([\w-]+)".*?"session":"([^"]+)"/.exec(text) ?? [];
    if (session !== undefined) this.sessions.set(worker, session);
    const [, asked = ""] = /^\/workers\/([\w-]+)\/(?:connect|poll)/.exec(path) ?? [];
    const claims = text.matchAll(
      /"execution_id":"([\w-]{36})","generation":(\d+),"reason".*?"head":(\d+)/g,
    );
    for (const [, execution_id = "", generation, head] of claims) {
      remember(this.claims, {
        worker: asked,
        execution_id,
        generation: Number(generation),
        head: Number(head),
      });
    }
  }
}

function remember<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > REMEMBERED) items.shift();
}

/** One of the items; the fallback when there is none. */
export function oneOf<Item>(random: Random, items: readonly Item[], fallback?: Item): Item {
  if (items.length > 0) return items[random.between(0, items.length - 1)] as Item;
  if (fallback === undefined) throw new Error("one of nothing");
  return fallback;
}
