import { Config } from "@engine/contract";
import * as sdk from "@engine/sdk";
import { createEngine } from "@engine/server";
import { interposed, type NewVersions, openSqliteStore, type Store } from "@engine/store";
import { programSource } from "./programs/program-source.ts";
import { RING } from "./servers.ts";

/** Versions of the workflows' code, as a server would register them and a worker would load them. */
export interface LoadedPrograms {
  readonly versions: readonly NewVersions[];
  /** What the bundle with that hash exports. */
  workflows(hash: string): readonly sdk.AnyWorkflow[];
}

/** Registers the programs once, so that every run can begin with what came of it. */
export async function loadPrograms(count: number): Promise<LoadedPrograms> {
  const versions: NewVersions[] = [];
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: () => 0 });
  const catalog = engineOn(noting(store, versions)).catalog;
  for (let version = 1; version <= count; version++) {
    await catalog.register({ source: await programSource(version) }, { by: null });
  }
  await store.close();
  const loaded = new Map(
    versions.map(({ module }) => [module.hash, workflowsOf(module.bundle)] as const),
  );
  return {
    versions,
    workflows(hash) {
      const workflows = loaded.get(hash);
      if (!workflows) throw new Error(`nobody registered a bundle with hash ${hash}`);
      return workflows;
    },
  };
}

function engineOn(store: Store): ReturnType<typeof createEngine> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  return createEngine({
    store,
    values: { save: never, load: never, deleteAll: never },
    config: Config.parse({}),
    clock: () => 0,
    monotonic: () => 0,
    ids: () => "",
    token: () => "",
    ring: RING,
    seed: () => "",
    random: () => 0,
    replica: "",
    setTimer: () => () => {},
    log: silent,
  });
}

function never(): never {
  throw new Error("registering needs no stored values");
}

function noting(store: Store, versions: NewVersions[]): Store {
  return interposed(store, ({ name }, call) => {
    if (name !== "catalog.register") return undefined;
    return (...args) => {
      versions.push(args[0] as NewVersions);
      return call?.(...args);
    };
  });
}

/**
 * Runs a bundle whose one import is the sdk, on this process's copy of it: a module loader would look
 * for files, and take its time.
 */
function workflowsOf(bundle: string): readonly sdk.AnyWorkflow[] {
  const code = bundle
    .replace(/^import \{([^}]*)\} from "@engine\/sdk";$/m, (_, imported: string) => {
      return `const {${imported.replaceAll(" as ", ": ")}} = sdk;`;
    })
    .replace(/^export \{([^}]*)\};$/m, (_, exported: string) => `return [${exported}];`);
  const run = new Function("sdk", code);
  return (run(sdk) as unknown[]).filter((value) => sdk.isWorkflow(value));
}
