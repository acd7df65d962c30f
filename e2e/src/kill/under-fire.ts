import { expect } from "vitest";
import type { EngineAccess } from "../harness/engine-access.ts";
import { Random } from "../harness/random.ts";
import { until } from "../harness/until.ts";
import { untilAllEnded } from "./all-executions.ts";
import { startLoad } from "./ledger-load.ts";
import { ledgerVerdict, type Verdict } from "./ledger-verdict.ts";
import { startPayer } from "./payer.ts";
import type { Kill } from "./violations.ts";

interface Fire {
  readonly seed: number;
  /** Does the harm, at moments of its own, each after `isWorthIt`. */
  readonly strike: (random: Random, isWorthIt: IsWorthIt) => Promise<readonly Kill[]>;
  readonly kills: number;
  /** How long after the last of it anything may still be open. */
  readonly stuckMs: number;
}

/** Resolves once so much has been acknowledged that one more fault, after so many, can lose some of it. */
export type IsWorthIt = (faults: number) => Promise<void>;

/** How many starts have to be acknowledged for each fault. */
const STARTS_PER_FAULT = 3;

/** Runs the ledger's load while processes are killed, and judges what became of all of it. */
export async function underFire(
  engine: EngineAccess,
  { seed, strike, kills: count, stuckMs }: Fire,
): Promise<Verdict> {
  process.stderr.write(`kill test: E2E_SEED=${seed} E2E_KILLS=${count}\n`);
  await engine.register("ledger");
  const file = engine.home.file("bodies.txt");
  await using payer = startPayer(engine.http);
  await using load = startLoad(engine.http, { random: new Random(seed + 1), file, payer });
  const isWorthIt = (done: number) =>
    until("enough is acknowledged", () => load.acknowledged.length > (done + 1) * STARTS_PER_FAULT);
  const kills = await strike(new Random(seed), isWorthIt);
  const quietSince = performance.now();
  await load.stop();
  await untilAllEnded(engine, stuckMs - (performance.now() - quietSince));
  const drain_ms = Math.round(performance.now() - quietSince);

  const { acknowledged } = load;
  const verdict = await ledgerVerdict(engine, { acknowledged, sent: payer.sent, file, kills });
  const { violations, ...found } = verdict;
  process.stderr.write(
    `${acknowledged.length} acknowledged, ${JSON.stringify({ ...found, drain_ms })}\n`,
  );
  expect(violations).toEqual([]);
  // A run that never hit anything would prove nothing.
  expect(acknowledged.length).toBeGreaterThan(count * STARTS_PER_FAULT);
  expect(found.openAtKills).toBeGreaterThan(0);
  return verdict;
}
