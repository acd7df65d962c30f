import {
  EngineError,
  type ExecutionRow,
  type ExecutionToken,
  formatInstant,
  hookExecutionId,
  type Identity,
  isTerminal,
  type Route,
  testDeliveryId,
} from "@engine/contract";
import type { AuthorizationRequest } from "@engine/http";
import type { EnginePorts } from "../engine-ports.ts";
import { sha256 } from "../hooks/sha256.ts";
import { type ExecutionClaims, proven, signed, type TokenKeys } from "./execution-token.ts";
import { type Reach, reachOf } from "./execution-token-scope.ts";
import type { Account, RunAs } from "./run-as.ts";
import type { TokenVerifier } from "./token-verifier.ts";
import { unauthenticated } from "./unauthenticated.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "config" | "clock" | "ids">;
  readonly keys: TokenKeys;
  readonly runAs: Pick<RunAs, "find">;
}

/**
 * Tokens with which the tasks of an execution call the engine as its principal (AUTH-39). They are made
 * in memory and kept nowhere: what is stored of the execution says whether one still counts.
 */
export class ExecutionTokens implements TokenVerifier {
  readonly kind = "execution_token";
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** For the claim that the row is under. */
  mint(row: ExecutionRow, { id, subject }: Pick<Account, "id" | "subject">): ExecutionToken {
    const { ports, keys } = this.#parts;
    const iat = Math.floor(ports.clock() / 1000);
    const exp = iat + Math.ceil(ports.config.security.execution_tokens.ttl);
    const token = signed(
      {
        sub: subject,
        pid: id,
        on_behalf_of: startedFor(row),
        exec: row.execution_id,
        gen: row.generation,
        iat,
        exp,
        jti: ports.ids(),
      },
      keys,
    );
    return { token, expires_at: formatInstant(exp * 1000) };
  }

  /** Reads the execution each time: nothing about it is kept (AUTH-41). */
  async identify(token: string, request: AuthorizationRequest, route: Route): Promise<Identity> {
    const { ports, keys, runAs } = this.#parts;
    const claims = proven(token, keys);
    if (!claims) throw unauthenticated("invalid");
    if (ports.clock() >= claims.exp * 1000) throw unauthenticated("expired");
    const row = await ports.store.executions.find(claims.exec);
    if (!row || !isUnder(row, claims)) throw unauthenticated("invalid");
    const account = await runAs.find(claims.pid);
    if (!account) throw unauthenticated("invalid");
    if (account.state !== "usable") throw unauthenticated(account.state);
    const { id, subject, issuer, type, roles } = account;
    return {
      ...{ id, subject, issuer, type, roles },
      grants: [...account.grants, ...(await this.#ownGrants(row, request, route))],
      narrowed_to: null,
      credential: { kind: this.kind, id: claims.jti, expires_at: claims.exp * 1000 },
      via_execution: row.execution_id,
    };
  }

  /**
   * What the token adds to the rights of its principal: an execution may read itself.
   *
   * @throws EngineError `permission_denied` for what the token does not reach.
   */
  async #ownGrants(
    row: ExecutionRow,
    { params }: AuthorizationRequest,
    route: Route,
  ): Promise<readonly string[]> {
    const reach = reachOf(route);
    const id = params["id"]?.toLowerCase();
    const isSelf = id === row.execution_id;
    if (isSelf && (reach === "self" || reach === "self_or_child")) {
      return ["execution:*:read", `workflow:${row.namespace}:${row.workflow}:read`];
    }
    if (!(await this.#reaches(reach, row, id))) throw outOfScope();
    return [];
  }

  async #reaches(
    reach: Reach | undefined,
    { execution_id }: ExecutionRow,
    id: string | undefined,
  ): Promise<boolean> {
    if (reach === "start") return true;
    if (reach === undefined || reach === "self" || id === undefined) return false;
    // The token's own is no descendant of itself.
    let row = await this.#parts.ports.store.executions.find(id);
    while (row && row.parent_id !== null) {
      if (row.parent_id === execution_id) return true;
      row = await this.#parts.ports.store.executions.find(row.parent_id);
    }
    return false;
  }
}

/** What made the engine start the execution; null: somebody asked, or another execution did (HOOK-45). */
function startedFor({ schedule, hook, execution_id }: ExecutionRow): string | null {
  if (schedule !== null) return `schedule:${schedule}`;
  const { name, delivery_id } = hook ?? {};
  if (!name || !delivery_id) return null;
  if (delivery_id === testDeliveryId(execution_id)) return `hook:${name}:test`;
  return hookExecutionId(delivery_id, sha256) === execution_id ? `hook:${name}` : null;
}

/** Whether the row is under the claim, and runs for the principal, that a token was made for. */
function isUnder(row: ExecutionRow, { gen, pid }: ExecutionClaims): boolean {
  if (isTerminal(row.state) || row.session === null) return false;
  return row.generation === gen && row.run_as === pid;
}

function outOfScope(): EngineError {
  const message =
    "the token of an execution reaches that execution and its children alone, and not this route of theirs";
  return new EngineError("permission_denied", message, {
    details: { missing_permissions: [], reason: "execution_token_scope" },
  });
}
