import { createHash } from "node:crypto";
import { startTestPostgres } from "@engine/store/test-postgres";
import { expect, test } from "vitest";
import { failpointsOf, type StoreKind } from "./failpoints.ts";
import { RECOVERIES } from "./recoveries.ts";
import { headCommit, sliceOfCommit } from "./slice-of-commit.ts";
import { sweep } from "./sweep.ts";
import type { Swept } from "./swept.ts";

const TOGETHER = 16;
/** Half as much is what it takes here; a machine may be twice as slow as the next. */
const LIMIT_MS = 1_800_000;
/** Into so many the failpoints are cut; `E2E_SLICE` chooses one instead of the commit. */
const SLICES = { sqlite: 8, postgres: 16 };
const CHOSEN = process.env["E2E_SLICE"];

function slice(store: StoreKind): {
  readonly name: string;
  readonly has: (failpoint: string) => boolean;
} {
  const slices = SLICES[store];
  const chosen =
    CHOSEN === undefined ? sliceOfCommit(headCommit(), slices) : Number(CHOSEN) % slices;
  const all = failpointsOf("sqlite");
  const has = (failpoint: string) => {
    const at = all.indexOf(failpoint);
    // Those that only PostgreSQL's store has are in each.
    return at < 0 || at % slices === chosen;
  };
  return { name: `slice ${chosen} of ${slices}`, has };
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

function verdict(swept: readonly Swept[]): unknown {
  return {
    unreached: swept.filter(({ isStruck }) => !isStruck).map(({ failpoint }) => failpoint),
    violations: [...new Set(swept.flatMap(({ violations }) => violations))],
  };
}

for (const store of ["sqlite", "postgres"] as const) {
  test(`I1 I2 I3 I4 I5 I17 I23 kill -9 at a slice of the failpoints of server, worker and store, which goes by the commit, loses nothing that was acknowledged, and each of them is reached (${store})`, {
    timeout: LIMIT_MS,
  }, async () => {
    const postgres = store === "postgres" ? await startTestPostgres() : undefined;
    const { name, has } = slice(store);
    try {
      const swept = await sweep({
        store,
        createDatabase: async () => (await postgres?.createDatabase()) ?? "",
        only: has,
        together: TOGETHER,
        say: (line) => say(`${store}, ${name}: ${line}`),
      });
      expect(verdict(swept)).toEqual({ unreached: [], violations: [] });
      const wanted = failpointsOf(store).filter(has);
      expect(swept.map(({ failpoint }) => failpoint).sort()).toEqual(wanted.toSorted());
    } finally {
      await postgres?.stop();
    }
  });
}

test("the slice goes by the commit: each has one of them, always the same, and none is left out; without a commit it is the first", () => {
  const commits = Array.from({ length: 200 }, (_, i) =>
    createHash("sha1").update(`${i}`).digest("hex"),
  );
  const some = SLICES.postgres;
  const slices = commits.map((commit) => sliceOfCommit(commit, some));
  expect(slices).toEqual(commits.map((commit) => sliceOfCommit(commit, some)));
  const all = [...new Set(slices)].sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: some }, (_, slice) => slice));
  expect(sliceOfCommit(undefined, some)).toBe(0);
});

test("every second kill is at a failpoint that is declared", () => {
  const declared = failpointsOf("sqlite");
  const second = [...RECOVERIES.server, ...RECOVERIES.worker];
  expect(second.filter((one) => !declared.includes(one))).toEqual([]);
});
