import { hkdfSync } from "node:crypto";
import type { Assignment, ExecutionRow } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { onTestFinished } from "vitest";
import type { TokenKeys } from "../auth/execution-token.ts";
import { ManualTime, settled } from "./manual-time.ts";
import { Principals } from "./principals.ts";
import { hello, TestEngine } from "./start-engine.ts";

/** Keys that are derived from nothing secret. */
export function tokenKeys(primary = "k1", ids: readonly string[] = [primary]): TokenKeys {
  const keyOf = (id: string) => new Uint8Array(hkdfSync("sha256", id, "", "token", 32));
  return {
    primary: { id: primary, key: keyOf(primary) },
    of: (id) => (ids.includes(id) ? keyOf(id) : undefined),
  };
}

/** An engine with authorization on, and principals as the test wants them. */
export class GuardedEngine {
  readonly principals: Principals;
  readonly t: TestEngine;

  private constructor(t: TestEngine, principals: Principals) {
    this.t = t;
    this.principals = principals;
  }

  /** @param auth Keys of `[engine.security.auth]`. */
  static async start(auth: object = {}): Promise<GuardedEngine> {
    const time = new ManualTime();
    const { clock } = time;
    const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
    const principals = new Principals();
    const shared = { store: principals.before(store), time };
    const config = { security: { auth: { enabled: true, ...auth } } };
    const ports = { tokenKeys: tokenKeys() };
    const t = await TestEngine.start(config, { shared, ports });
    onTestFinished(async () => {
      await t[Symbol.asyncDispose]();
      await store.close();
    });
    return new GuardedEngine(t, principals);
  }

  /** Changes who may do what, as a route of this server does. */
  async change(change: (principals: Principals) => void): Promise<void> {
    change(this.principals);
    this.t.engine.epochs.raised("identity");
    await settled();
  }

  async run(by: string | null, workflow = "hello"): Promise<ExecutionRow> {
    return (await this.t.engine.executions.start({ ...hello(), workflow, by })).row;
  }
}

/** The text of an assignment's token. */
export function tokenOf({ execution_token }: Assignment): string {
  return execution_token?.token ?? "";
}
