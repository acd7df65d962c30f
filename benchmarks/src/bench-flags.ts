import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Measure } from "./measure.ts";
import { RUNNERS, type Setup, STORES, type StoreKind } from "./setup.ts";

export interface BenchFlags {
  readonly quick: boolean;
  readonly json: boolean;
  readonly measures: readonly Measure[];
  readonly setup: Setup;
  readonly stores: readonly StoreKind[];
  /** An absolute path. */
  readonly against?: string | undefined;
}

/** @throws Error That says in a line what was expected. */
export function benchFlags(args: readonly string[], all: readonly Measure[]): BenchFlags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string", multiple: true },
      store: { type: "string", default: "sqlite" },
      stores: { type: "string", default: STORES.join() },
      against: { type: "string" },
      runner: { type: "string", default: "thread" },
    },
  });
  const named = values.against === undefined ? values.only : ["against"];
  if (values.against !== undefined && values.only) {
    throw new Error("--against measures by itself; it goes without --only");
  }
  const only = named?.map((name) => {
    return oneOf(
      "measurement",
      all.map((measure) => measure.name),
      name,
    );
  });
  const store = oneOf("store", STORES, values.store);
  const runs = ({ name, stores, onlyWhenNamed }: Measure) =>
    only ? only.includes(name) : !onlyWhenNamed && (!stores || stores.includes(store));
  return {
    quick: values.quick,
    json: values.json,
    measures: all.filter(runs),
    setup: { store, runner: oneOf("runner", RUNNERS, values.runner) },
    against: values.against === undefined ? undefined : resolve(values.against),
    stores: values.stores.split(",").map((name) => oneOf("store", STORES, name)),
  };
}

function oneOf<Name extends string>(what: string, known: readonly Name[], given: string): Name {
  const found = known.find((name) => name === given);
  if (found === undefined) throw new Error(`no ${what} "${given}"; there are: ${known.join(", ")}`);
  return found;
}
