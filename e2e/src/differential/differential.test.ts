import { startTestPostgres } from "@engine/store/test-postgres";
import { expect, test } from "vitest";
import { differential } from "./differential.ts";
import { settingsOf } from "./settings.ts";
import type { Tally } from "./tally.ts";

const LIMIT_MS = 600_000;
const DAY_MS = 86_400_000;
/** Other programs every day; `E2E_SEED` chooses those of another one. */
const SEED = Number(process.env["E2E_SEED"] ?? Math.floor(Date.now() / DAY_MS));

const say = (line: string) => void process.stderr.write(`${line}\n`);

async function run(args: readonly string[], createDatabase: () => Promise<string>): Promise<Tally> {
  const settings = settingsOf([...args, "--seed", `${SEED}`, "--failures", "5"]);
  if (!settings) throw new Error("these are settings");
  say(`seed ${SEED}: ${args.join(" ")}`);
  return differential({ ...settings, createDatabase, say });
}

const verdict = ({ failed }: Tally) =>
  failed.flatMap(({ n, violations }) =>
    violations.map((one) => `${n}: ${one.judge}: ${one.message}`),
  );

test("I2 I4 I5 I7 I9 I10 I17 random programs of the day on real processes, half of them while workers are killed, leave nothing that is wrong", {
  timeout: LIMIT_MS,
}, async () => {
  const tally = await run(["--programs", "240"], async () => "");
  expect(verdict(tally)).toEqual([]);
  expect(tally.programs).toBe(240);
  expect(tally.deaths).toBeGreaterThan(0);
  expect(tally.cancelled).toBeGreaterThan(0);
});

test("I2 I4 I5 I7 I9 I10 I17 the same on PostgreSQL", { timeout: LIMIT_MS }, async () => {
  const postgres = await startTestPostgres();
  try {
    const tally = await run(["--programs", "80", "--defaults", "0"], () =>
      postgres.createDatabase(),
    );
    expect(verdict(tally)).toEqual([]);
    expect(tally.programs).toBe(80);
  } finally {
    await postgres.stop();
  }
});
