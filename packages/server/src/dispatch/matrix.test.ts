/*
 * DSP-11: whatever makes an execution need a worker, and whatever has become of the one it had, it
 * runs on a worker that passes every hard check as the claiming transaction reads it, or it waits. A
 * second worker has room all the time, lacks what is asked for, and never gets it.
 */
import { expect, test } from "vitest";
import type { Constraint } from "./testing/constraints.ts";
import { FATES, type Fate } from "./testing/fates.ts";
import type { Mode } from "./testing/member.ts";
import { PATHS, type Path } from "./testing/paths.ts";
import { Stage } from "./testing/stage.ts";

interface Cell {
  readonly path: Path;
  readonly fate: Fate;
  readonly constraint: Constraint;
  readonly mode: Mode;
}

const MODES: readonly Mode[] = ["event", "poll"];

const CELLS: readonly Cell[] = PATHS.flatMap((path) =>
  FATES.flatMap((fate) =>
    path.constraints.flatMap((constraint) =>
      MODES.map((mode) => ({ path, fate, constraint, mode })),
    ),
  ),
);

function cells(isWanted: (cell: Cell) => boolean): [title: string, Cell][] {
  return CELLS.filter(isWanted).map((cell) => {
    const { path, fate, constraint, mode } = cell;
    return [`${path.name} × ${fate.name} × ${constraint} × ${mode}`, cell];
  });
}

const runs = cells(({ fate, constraint }) => fate.isAllowed(constraint));
const waits = cells(({ fate, constraint }) => !fate.isAllowed(constraint));
/** By what another worker may be the one: one of a kind. */
const MOVING: readonly Constraint[] = ["requests", "runner", "label eq", "meta eq", "service"];
const moves = waits.filter(([, { constraint }]) => MOVING.includes(constraint));

/** Goes on to where the execution needs a worker. */
async function play(stage: Stage, { path, fate }: Cell) {
  const needWorker = await path.prepare(stage);
  const restore = await fate.befall(stage);
  return { execution_id: await needWorker(), restore };
}

test.each(runs)("DSP-11 %s: it runs there", async (_, cell) => {
  await using stage = await Stage.set(cell.constraint, cell.mode);
  const { execution_id } = await play(stage, cell);
  expect(await stage.ran(execution_id)).toBe("original");
  expect(await stage.claimants("picky")).toEqual(["original"]);
});

test.each(waits)("DSP-11 %s: it waits for that to end", async (_, cell) => {
  await using stage = await Stage.set(cell.constraint, cell.mode);
  const { execution_id, restore } = await play(stage, cell);
  expect(await stage.ran(execution_id)).toBeUndefined();
  await stage.pass(20_000);
  // Only the name is asked for: whatever else this one has, it is another worker.
  if (cell.constraint === "required worker") await stage.join("spare");
  expect(await stage.ran(execution_id)).toBeUndefined();
  await restore();
  expect(await stage.ran(execution_id)).toBe("original");
  expect(await stage.claimants("picky")).toEqual(["original"]);
});

test.each(moves)("DSP-11 %s: it runs elsewhere once it may", async (_, cell) => {
  await using stage = await Stage.set(cell.constraint, cell.mode);
  const { execution_id } = await play(stage, cell);
  expect(await stage.ran(execution_id)).toBeUndefined();
  await stage.join("spare");
  expect(await stage.ran(execution_id)).toBe("spare");
  expect(await stage.claimants("picky")).not.toContain("unfit");
});
