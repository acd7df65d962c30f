import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Measure } from "./measure.ts";
import { RUNNERS, type Setup, STORES, type StoreKind } from "./setup.ts";

export interface BenchFlags {
  readonly quick: boolean;
  readonly json: boolean;
  readonly help: boolean;
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
      help: { type: "boolean", short: "h", default: false },
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
    help: values.help,
    measures: all.filter(runs),
    setup: { store, runner: oneOf("runner", RUNNERS, values.runner) },
    against: values.against === undefined ? undefined : resolve(values.against),
    stores: values.stores.split(",").map((name) => oneOf("store", STORES, name)),
  };
}

export function benchHelp(all: readonly Measure[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  const line = ({ name, means, onlyWhenNamed }: Measure) =>
    `  ${name.padEnd(width)}  ${means}${onlyWhenNamed ? " (only when named)" : ""}`;
  return `Measures the engine on this machine, prints tables and keeps all samples in benchmarks/results.

  npm run bench -- [options]

  --quick            a short run that shows whether everything works; its figures mean little
  --only <name>      this measurement; several times for several
  --store <kind>     ${STORES.join(" or ")} (default: sqlite)
  --runner <kind>    ${RUNNERS.join(" or ")} (default: thread)
  --against <folder> this checkout beside another, installed one, by short turns
  --stores <kinds>   what ours runs on in peers (default: ${STORES.join()})
  --json             print all samples in place of tables
  -h, --help         print this

Examples:
  npm run bench -- --quick
  npm run bench -- --only latency --only throughput --store postgres
  npm run bench -- --against ../before

Measurements:
${all.map(line).join("\n")}`;
}

function oneOf<Name extends string>(what: string, known: readonly Name[], given: string): Name {
  const found = known.find((name) => name === given);
  if (found === undefined) throw new Error(`no ${what} "${given}"; there are: ${known.join(", ")}`);
  return found;
}
