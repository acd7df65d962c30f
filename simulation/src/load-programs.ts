import { Config } from "@engine/contract";
import * as sdk from "@engine/sdk";
import * as routing from "@engine/sdk/routing";
import { createEngine, type EnginePorts } from "@engine/server";
import { interposed, type NewVersions, openSqliteStore, type Store } from "@engine/store";
import {
  GUEST_NAMESPACES,
  GUEST_TEXTS,
  type GuestText,
  guestSource,
} from "./programs/guest-source.ts";
import { programSource } from "./programs/program-source.ts";
import { RING } from "./servers.ts";

const OF_THE_SDK = /^import \{([^}]*)\} from "@engine\/sdk(?:\/(routing))?";$/gm;

type ReadRegistration = NonNullable<EnginePorts["readRegistration"]>;

/** Versions of the workflows' code, as a server would register them and a worker would load them. */
export interface LoadedPrograms {
  readonly versions: readonly NewVersions[];
  /** The text of a guest, and what a server finds in it: it takes no process of its own for that. */
  guestSource(text: GuestText): string;
  readonly readGuest: ReadRegistration;
  /** What the bundle with that hash exports. */
  workflows(hash: string): readonly sdk.AnyWorkflow[];
}

/** Registers the programs once, so that every run can begin with what came of it. */
export async function loadPrograms(count: number): Promise<LoadedPrograms> {
  const noted: NewVersions[] = [];
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: () => 0 });
  const catalog = engineOn(noting(store, noted)).catalog;
  for (let version = 1; version <= count; version++) {
    await catalog.register({ source: await programSource(version) }, { by: null });
  }
  const versions = [...noted];
  const guests = new Map<string, string>();
  const read = new Map<string, NewVersions>();
  for (const text of guestTexts()) {
    const source = await guestSource(text);
    await catalog.register({ source }, { by: null });
    guests.set(keyOf(text), source);
    read.set(source, noted.at(-1) as NewVersions);
  }
  await store.close();
  const loaded = new Map(
    noted.map(({ module }) => [module.hash, workflowsOf(module.bundle)] as const),
  );
  return {
    versions,
    guestSource: (text) => guests.get(keyOf(text)) ?? never(),
    async readGuest(registration) {
      const known = "source" in registration ? read.get(registration.source) : undefined;
      const { workflows, module, files, source_hash } = known ?? never();
      const found = { issues: [], warnings: [], secrets: [], limits: [] };
      return { workflows, module, files, source_hash, ...found };
    },
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
  throw new Error("nobody registers that");
}

function guestTexts(): GuestText[] {
  return GUEST_NAMESPACES.flatMap((namespace) =>
    Array.from({ length: GUEST_TEXTS }, (_, i) => ({ namespace, number: i + 1 })),
  );
}

function keyOf({ namespace, number }: GuestText): string {
  return `${namespace} ${number}`;
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
 * Runs a bundle that imports nothing but the sdk, on this process's copy of it: a module loader would look
 * for files, and take its time.
 */
function workflowsOf(bundle: string): readonly sdk.AnyWorkflow[] {
  const code = bundle
    .replace(OF_THE_SDK, (_, imported: string, part?: string) => {
      return `const {${imported.replaceAll(" as ", ": ")}} = ${part ?? "sdk"};`;
    })
    .replace(/^export \{([^}]*)\};$/m, (_, exported: string) => `return [${exported}];`);
  const run = new Function("sdk", "routing", code);
  return (run(sdk, routing) as unknown[]).filter((value) => sdk.isWorkflow(value));
}
