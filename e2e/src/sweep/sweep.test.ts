import { createHash } from "node:crypto";
import { startTestPostgres } from "@engine/store/test-postgres";
import { expect, test } from "vitest";
import { failpointsOf } from "./failpoints.ts";
import { RECOVERIES } from "./recoveries.ts";
import { headCommit, sliceOfCommit } from "./slice-of-commit.ts";
import { sweep } from "./sweep.ts";
import type { Swept } from "./swept.ts";

const TOGETHER = 16;
/** Half as much is what it takes here; a machine may be twice as slow as the next. */
const LIMIT_MS = 1_800_000;
/** Into so many the failpoints are cut on PostgreSQL; `E2E_SLICE` chooses one instead of the commit. */
const SLICES = 8;
const SLICE = Number(process.env["E2E_SLICE"] ?? sliceOfCommit(headCommit(), SLICES));

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

test(`I1 I2 I3 I4 I5 I17 I23 the same on PostgreSQL, with those of its store and one of ${SLICES} of the others, which goes by the commit`, {
  timeout: LIMIT_MS,
}, async () => {
  const postgres = await startTestPostgres();
  try {
    const others = failpointsOf("sqlite");
    const isOfSlice = (failpoint: string) => {
      const at = others.indexOf(failpoint);
      return at < 0 || at % SLICES === SLICE;
    };
    const swept = await sweep({
      store: "postgres",
      createDatabase: () => postgres.createDatabase(),
      only: isOfSlice,
      together: TOGETHER,
      say: (line) => say(`slice ${SLICE}: ${line}`),
    });
    expect(verdict(swept)).toEqual({ unreached: [], violations: [] });
    const wanted = failpointsOf("postgres").filter(isOfSlice);
    expect(swept.map(({ failpoint }) => failpoint).sort()).toEqual(wanted.toSorted());
  } finally {
    await postgres.stop();
  }
});

test("the slice goes by the commit: each has one of them, always the same, and none is left out; without a commit it is the first", () => {
  const commits = Array.from({ length: 200 }, (_, i) =>
    createHash("sha1").update(`${i}`).digest("hex"),
  );
  const slices = commits.map((commit) => sliceOfCommit(commit, SLICES));
  expect(slices).toEqual(commits.map((commit) => sliceOfCommit(commit, SLICES)));
  expect([...new Set(slices)].sort()).toEqual(Array.from({ length: SLICES }, (_, slice) => slice));
  expect(sliceOfCommit(undefined, SLICES)).toBe(0);
});

test("every second kill is at a failpoint that is declared", () => {
  const declared = failpointsOf("sqlite");
  const second = [...RECOVERIES.server, ...RECOVERIES.worker];
  expect(second.filter((one) => !declared.includes(one))).toEqual([]);
});
