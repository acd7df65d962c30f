import type { Assignment, ClaimReason, ExecutionRow } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { ExecutionTokens } from "../auth/execution-tokens.ts";
import type { RunAs, Standing } from "../auth/run-as.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { InnerPorts } from "../engine-ports.ts";
import { assigned, assigning } from "../failpoints.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import type { HandOvers } from "../workers/hand-over.ts";
import type { Session } from "../workers/session.ts";
import { historyOf } from "./assigned-history.ts";
import { assignmentOf } from "./assignment.ts";
import { reasonOf } from "./claim-reason.ts";

export interface AssignerParts {
  readonly ports: InnerPorts;
  readonly catalog: Catalog;
  readonly progress: ProgressHub;
  readonly handOvers: Pick<HandOvers, "one">;
  readonly runAs: RunAs;
  /** Makes the token with which tasks of an execution call the engine; none with authorization off. */
  readonly tokens: Pick<ExecutionTokens, "mint"> | undefined;
  failed(message: string, error: unknown): void;
}

/** Sends executions to the workers that have claimed them, with all that they need to run them. */
export class Assigner {
  readonly #parts: AssignerParts;

  constructor(parts: AssignerParts) {
    this.#parts = parts;
  }

  /** Sends what a session has claimed; where that fails, the reconnect hands it back. */
  send(session: Session, changed: Changed): void {
    const reason = reasonOf(changed);
    const code = this.#parts.catalog.loadedCode(changed.row);
    const history = historyOf(this.#parts.ports, changed);
    const standing = this.#parts.runAs.standing(changed.row);
    if (code && standing && !(history instanceof Promise)) {
      this.#assign(session, changed.row, { reason, ...code, history });
      return;
    }
    this.#sendLater(session, changed, { reason, history }).catch((error) => {
      // A worker does not list an execution that it never got.
      session.closeStream();
      this.#parts.failed(`could not send execution ${changed.row.execution_id}`, error);
    });
  }

  async #sendLater(
    session: Session,
    { row }: Changed,
    rest: {
      reason: ClaimReason;
      history: Assignment["history"] | Promise<Assignment["history"]>;
    },
  ): Promise<void> {
    const { runAs } = this.#parts;
    const [code, history] = await Promise.all([this.#parts.catalog.loadCode(row), rest.history]);
    // What is known of principals soon counts no more: a slow answer has to be asked for again.
    while (runAs.standing(row) === undefined) await runAs.know(row);
    this.#assign(session, row, { ...rest, ...code, history });
  }

  #assign(
    session: Session,
    row: ExecutionRow,
    rest: Pick<Assignment, "reason" | "module" | "placement" | "history">,
  ): void {
    const standing = this.#parts.runAs.standing(row);
    if (!standing?.isFree) {
      this.#giveBack(session, row);
      return;
    }
    const listen = this.#parts.progress.isWatched(row.execution_id);
    if (assigning.hasSubscribers) assigning.publish({ of: [rest.reason] });
    const rights = this.#rightsOf(row, standing);
    const data = assignmentOf(row, { ...rest, ...rights, listen });
    session.holdings.assign({ event: "assign", data });
    if (assigned.hasSubscribers) assigned.publish({ of: [rest.reason] });
  }

  /** What a worker is told of an execution's principal, and the token of its tasks (AUTH-35, AUTH-39). */
  #rightsOf(
    row: ExecutionRow,
    { task_grants, account }: Standing,
  ): Pick<Assignment, "authz" | "execution_token"> | undefined {
    const { ports, runAs, tokens } = this.#parts;
    if (!runAs.isOn) return undefined;
    const enforced = ports.config.security.auth.task_permissions;
    const authz = { enforced, task_grants: [...task_grants] };
    return { authz, execution_token: (account && tokens?.mint(row, account)) ?? null };
  }

  /** Takes back what was claimed for somebody who may not run it any more: it was never sent. */
  #giveBack(session: Session, row: ExecutionRow): void {
    const { id, guard } = session;
    this.#parts.handOvers.one(id, row, { guard }).catch((error: unknown) => {
      session.closeStream();
      this.#parts.failed(`could not take execution ${row.execution_id} back`, error);
    });
  }
}
