import { parseArgs } from "node:util";
import { type Kept, keptOf } from "./kept.ts";
import { plantedBug } from "./planted-bugs.ts";
import type { StoreKind } from "./store/open-source.ts";

export interface Flags {
  readonly seeds: number;
  readonly from: number;
  readonly seed: number | undefined;
  readonly keep: Kept | undefined;
  readonly jobs: number;
  readonly store: StoreKind;
  readonly plant: string | undefined;
  /** Of the process that another one gave a part of its seeds. */
  readonly part: boolean;
  readonly help: boolean;
}

/** @throws Error That says in a line what was expected. */
export function flagsOf(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "200" },
      from: { type: "string", default: "1" },
      seed: { type: "string" },
      keep: { type: "string" },
      jobs: { type: "string", default: "1" },
      store: { type: "string", default: "sqlite" },
      plant: { type: "string" },
      part: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { seed, keep, plant, part, help } = values;
  if (plant !== undefined) plantedBug(plant);
  return {
    seeds: numberOf("seeds", values.seeds),
    from: numberOf("from", values.from),
    seed: seed === undefined ? undefined : numberOf("seed", seed),
    keep: keep === undefined ? undefined : keptOf(keep),
    jobs: numberOf("jobs", values.jobs),
    store: storeOf(values.store),
    plant,
    part,
    help,
  };
}

function storeOf(text: string): StoreKind {
  if (text === "sqlite" || text === "postgres") return text;
  throw new Error(`--store: expected sqlite or postgres; got "${text}"`);
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`--${option}: expected a whole number; got "${text}"`);
}
