import type { Stage } from "./stage.ts";

const WORK_MS = 800;

/** Lets the workers work for a while and drains one of them, again and again, by turns. */
export async function drainUntil(stage: Stage, isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    await new Promise((resolve) => setTimeout(resolve, WORK_MS));
    if (!isOver()) await stage.drain(turn);
  }
}
