import type { State } from "@engine/contract";
import type { Sent } from "../kill/payer.ts";

interface Expected {
  readonly state: State;
  readonly output?: unknown;
}

/** What the server was asked and has promised, to be held against what became of it. */
export class Ledger {
  readonly expected: Map<string, Expected> = new Map();
  readonly sent: Map<string, Sent> = new Map();
  /** Starts under keys of their own: each makes one execution. */
  keys = 0;
  /** Requests that make one each time they arrive, by how often they were sent and answered. */
  readonly unkeyed: Record<"sent" | "answered", number> = { sent: 0, answered: 0 };
  /** Starts of schedules for an instant. */
  planned = 0;
  readonly violations: string[] = [];

  expect(execution_id: string, state: State, output?: unknown): void {
    this.expected.set(execution_id, { state, output });
  }

  countSignals(execution_id: string, { tried, acknowledged }: Sent): void {
    const before = this.sent.get(execution_id) ?? { tried: 0, acknowledged: 0 };
    this.sent.set(execution_id, {
      tried: before.tried + tried,
      acknowledged: before.acknowledged + acknowledged,
    });
  }

  countUnkeyed({ tries }: { readonly tries: number }): void {
    this.unkeyed.sent += tries;
    this.unkeyed.answered++;
  }

  wrong(what: string): void {
    this.violations.push(what);
  }
}
