import { type ExecutionRow, isTerminal } from "@engine/contract";
import type { Changed, PrincipalRow, ServiceRow } from "@engine/store";
import { ACCOUNT_ROLE } from "../accounts.ts";
import type { Commit, Deletion, PrincipalChange, ServiceChange } from "../evidence.ts";
import type { World } from "../world.ts";

/** What became durable, also where nobody was told. */
export class CommitRecord {
  readonly commits: Commit[] = [];
  readonly deletions: Deletion[] = [];
  readonly principals: PrincipalChange[] = [];
  readonly services: ServiceChange[] = [];
  /** Every session that was ever opened, by the hashes of the secrets it was known under. */
  readonly sessions: Map<string, string> = new Map();
  /** Executions that have not ended, as they were committed last. */
  readonly open: Map<string, ExecutionRow> = new Map();
  /** When something became durable last. */
  lastAt: number;
  readonly #world: World;
  #transactions = 0;

  constructor(world: World) {
    this.#world = world;
    this.lastAt = world.now;
  }

  add(by: Pick<Commit, "server" | "clock" | "decided_clock" | "asked_at">, changed: Changed): void {
    const transaction = ++this.#transactions;
    const at = this.#world.now;
    this.lastAt = at;
    for (const { row, events } of [changed, ...changed.others]) {
      const { execution_id } = row;
      if (isTerminal(row.state)) this.open.delete(execution_id);
      else this.open.set(execution_id, row);
      this.commits.push({ at, ...by, transaction, execution_id, row, events });
      this.#world.trace.say(by.server, () => {
        const { trace } = this.#world;
        const types = events.map((e) => `${e.seq} ${e.type} ${e.name ?? ""}`).join(", ");
        const held =
          row.session === null ? "nobody" : `${row.worker}, generation ${row.generation}`;
        return `commits ${trace.name(execution_id)} → ${row.state}, of ${held}: ${types || "only its row"}`;
      });
    }
  }

  /** A principal as a change of it has left it. */
  principal({ id, subject, enabled, roles }: PrincipalRow): void {
    const hasRole = roles.includes(ACCOUNT_ROLE);
    this.principals.push({ at: this.#world.now, principal: id, enabled, has_role: hasRole });
    this.#world.trace.say("world", () => {
      const state = enabled ? "is enabled" : "is disabled";
      return `${subject} ${state}${hasRole ? "" : " and has no role"}`;
    });
  }

  /** The service as a change of it has left it; undefined where it is gone. */
  service(row: ServiceRow | undefined): void {
    const excluded = new Set(row?.exclusions);
    const refs = row?.workflows.filter((ref) => !excluded.has(ref));
    const offers = refs?.map((ref) => ref.slice(ref.indexOf("/") + 1)) ?? null;
    this.services.push({ at: this.#world.now, offers });
    this.#world.trace.say(
      "world",
      () => `the service offers ${offers?.join(", ") ?? "nothing more"}`,
    );
  }

  deleted(deletion: Deletion): void {
    this.deletions.push(deletion);
    this.open.delete(deletion.execution_id);
  }
}
