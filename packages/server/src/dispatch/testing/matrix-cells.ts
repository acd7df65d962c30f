/*
 * DSP-11: whatever makes an execution need a worker, and whatever has become of the one it had, it
 * runs on a worker that passes every hard check as the claiming transaction reads it, or it waits. A
 * second worker has room all the time, lacks what is asked for, and never gets it.
 */
import { expect, test } from "vitest";
import type { Constraint } from "./constraints.ts";
import { FATES, type Fate } from "./fates.ts";
import type { Mode } from "./member.ts";
import { PATHS, type Path } from "./paths.ts";
import { Stage } from "./stage.ts";

interface Cell {
  readonly path: Path;
  readonly fate: Fate;
  readonly constraint: Constraint;
  readonly mode: Mode;
}

/** By what another worker may be the one: one of a kind. */
const MOVING: readonly Constraint[] = ["requests", "runner", "label eq", "meta eq", "service"];

function cellsOf(mode: Mode): readonly [title: string, Cell][] {
  return PATHS.flatMap((path) =>
    FATES.flatMap((fate) =>
      path.constraints.map((constraint): [string, Cell] => {
        const title = `${path.name} × ${fate.name} × ${constraint} × ${mode}`;
        return [title, { path, fate, constraint, mode }];
      }),
    ),
  );
}

/** Goes on to where the execution needs a worker. */
async function play(stage: Stage, { path, fate }: Cell) {
  const needWorker = await path.prepare(stage);
  const restore = await fate.befall(stage);
  return { execution_id: await needWorker(), restore };
}

/** The cells of the matrix in which workers get their frames one way, each a test. */
export function testCells(mode: Mode): void {
  const cells = cellsOf(mode);
  const runs = cells.filter(([, { fate, constraint }]) => fate.isAllowed(constraint));
  const waits = cells.filter(([, { fate, constraint }]) => !fate.isAllowed(constraint));
  const moves = waits.filter(([, { constraint }]) => MOVING.includes(constraint));

  test.each(runs)("DSP-11 %s: it runs there", async (_, cell) => {
    await using stage = await Stage.set(cell.constraint, cell.mode, cell.path.inputAt);
    const { execution_id } = await play(stage, cell);
    expect(await stage.ran(execution_id)).toBe("original");
    expect(await stage.claimants("picky")).toEqual(["original"]);
  });

  test.each(waits)("DSP-11 %s: it waits for that to end", async (_, cell) => {
    await using stage = await Stage.set(cell.constraint, cell.mode, cell.path.inputAt);
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
    await using stage = await Stage.set(cell.constraint, cell.mode, cell.path.inputAt);
    const { execution_id } = await play(stage, cell);
    expect(await stage.ran(execution_id)).toBeUndefined();
    await stage.join("spare");
    expect(await stage.ran(execution_id)).toBe("spare");
    expect(await stage.claimants("picky")).not.toContain("unfit");
  });
}
