import type { Evidence, Violation } from "./evidence.ts";
import { comesToRest } from "./judges/comes-to-rest.ts";
import { enteredOnce } from "./judges/entered-once.ts";
import { noDivergence } from "./judges/no-divergence.ts";
import { recordedWhatRan } from "./judges/recorded-what-ran.ts";
import { replaysWell } from "./judges/replays-well.ts";
import { rightEnds } from "./judges/right-ends.ts";
import { toldWhatLasts } from "./judges/told-what-lasts.ts";
import { waitsInOrder } from "./judges/waits-in-order.ts";

const JUDGES = [
  comesToRest,
  enteredOnce,
  noDivergence,
  recordedWhatRan,
  replaysWell,
  rightEnds,
  toldWhatLasts,
  waitsInOrder,
];

/** Everything that is wrong with what one program left. */
export function verdictOn(evidence: Evidence): readonly Violation[] {
  return JUDGES.flatMap((judge) => judge(evidence));
}
