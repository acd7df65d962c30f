import { startTestPostgres } from "@engine/store/test-postgres";
import { expect, test } from "vitest";
import { failpointsOf } from "./failpoints.ts";
import { RECOVERIES } from "./recoveries.ts";
import { sweep } from "./sweep.ts";
import type { Swept } from "./swept.ts";

const TOGETHER = 16;
const LIMIT_MS = 600_000;
const DAY_MS = 86_400_000;
/** So many days make one round of all failpoints on PostgreSQL; `E2E_SLICE` chooses one of them. */
const SLICES = 8;
const SLICE = Number(process.env["E2E_SLICE"] ?? Math.floor(Date.now() / DAY_MS) % SLICES);

const say = (line: string) => void process.stderr.write(`${line}\n`);

function verdict(swept: readonly Swept[]): unknown {
  return {
    unreached: swept.filter(({ isStruck }) => !isStruck).map(({ failpoint }) => failpoint),
    violations: [...new Set(swept.flatMap(({ violations }) => violations))],
  };
}

test("I1 I2 I3 I4 I5 I17 I23 kill -9 at every failpoint of server, worker and SQLite store loses nothing that was acknowledged, and every failpoint that is declared is reached", {
  timeout: LIMIT_MS,
}, async () => {
  const createDatabase = async () => "";
  const swept = await sweep({ store: "sqlite", createDatabase, together: TOGETHER, say });
  expect(verdict(swept)).toEqual({ unreached: [], violations: [] });
  expect(swept.map(({ failpoint }) => failpoint).sort()).toEqual(failpointsOf("sqlite").toSorted());
});

test(`I1 I2 I3 I4 I5 I17 I23 the same on PostgreSQL, with those of its store and one of ${SLICES} of the others, which changes by the day`, {
  timeout: LIMIT_MS,
}, async () => {
  const postgres = await startTestPostgres();
  try {
    const others = failpointsOf("sqlite");
    const swept = await sweep({
      store: "postgres",
      createDatabase: () => postgres.createDatabase(),
      only: (failpoint) => {
        const at = others.indexOf(failpoint);
        return at < 0 || at % SLICES === SLICE;
      },
      together: TOGETHER,
      say: (line) => say(`slice ${SLICE}: ${line}`),
    });
    expect(verdict(swept)).toEqual({ unreached: [], violations: [] });
  } finally {
    await postgres.stop();
  }
});

test("every second kill is at a failpoint that is declared", () => {
  const declared = failpointsOf("sqlite");
  const second = [...RECOVERIES.server, ...RECOVERIES.worker];
  expect(second.filter((one) => !declared.includes(one))).toEqual([]);
});
