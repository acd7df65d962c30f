/** The keys with which a server seals: read, and compared with what is stored under them (SEC-1). */
import { authSwitch } from "@engine/contract";
import {
  type KeyRing,
  keyCheckPlace,
  openText,
  type ReadRing,
  readKeyRing,
  ringOf,
  type Store,
  sealText,
} from "@engine/store";
import type { StartProblems } from "../auth/start-problems.ts";
import type { EnginePorts } from "../engine-ports.ts";

type Ports = Pick<EnginePorts, "config" | "store" | "log">;

const TABLE = "engine.security.encryption";
const CHECKED_TEXT = "the engine's own";

/** What is wrong with the keys (AUTH-3). */
export const encryptionProblems: StartProblems = async (ports) => {
  const { config, store } = ports;
  const { ring, problems } = readRing(ports);
  if (problems.length > 0) return problems;
  const found = await missingKeys(store, ring);
  if (ring) found.push(...(await otherKeys(store, ring)));
  // Tokens of executions are signed with it.
  if (authSwitch(config.security.auth).isOn) found.push(...unusable(ring));
  return found;
};

function unusable(ring: KeyRing | undefined): readonly string[] {
  if (!ring) return [KEY_NEEDED];
  try {
    return ring.primary ? [] : [KEY_NEEDED];
  } catch (error) {
    return [(error as Error).message];
  }
}

const KEY_NEEDED = `${TABLE}: with authorization on, servers that share a database need a key: set key or key_file, or keys with primary, alike on all of them (openssl rand -base64 32 makes one)`;

/**
 * The keys of a server, each with something stored that says next time whether it is still the same.
 * Undefined without any. {@link encryptionProblems} has found none.
 */
export async function openRing(ports: Ports): Promise<KeyRing | undefined> {
  const { ring } = readRing(ports);
  if (!ring) return undefined;
  const checks = ring.ids
    .flatMap((id) => ring.of(id) ?? [])
    .map((key) => sealText(ringOf(key), keyCheckPlace(key.id), CHECKED_TEXT));
  // Of a key that is known the one that is there stays.
  if (checks.length > 0) await ports.store.encryption.addChecks(checks);
  return ring;
}

function readRing({ config, store, log }: Ports): ReadRing {
  const { encryption } = config.security;
  const warn = (message: string) => log.warn({}, message);
  return readKeyRing({ encryption, home: config.home, kind: store.kind, warn });
}

async function missingKeys(
  { encryption }: Pick<Store, "encryption">,
  ring: KeyRing | undefined,
): Promise<string[]> {
  const uses = await encryption.uses();
  const known = ring ? `only ${ring.ids.join(", ")}` : "none at all";
  return uses
    .filter(({ key_id }) => !ring?.of(key_id))
    .map(({ key_id, rows }) => {
      const are = rows === 1 ? "1 data key is" : `${rows} data keys are`;
      return `${TABLE}: ${are} wrapped with key ${key_id}, and the configuration has ${known}: add it to keys under that id, and leave it out only after npx engine secrets rotate-keys`;
    });
}

async function otherKeys(
  { encryption }: Pick<Store, "encryption">,
  ring: KeyRing,
): Promise<readonly string[]> {
  const checks = await encryption.checks();
  return checks
    .filter((check) => ring.of(check.key_id) && !opens(ring, check))
    .map(
      ({ key_id }) =>
        `${TABLE}.keys.${key_id}: is another key than the one that the database knows under this id; give it an id of its own`,
    );
}

function opens(ring: KeyRing, check: Parameters<typeof openText>[2]): boolean {
  try {
    return openText(ring, keyCheckPlace(check.key_id), check) === CHECKED_TEXT;
  } catch {
    return false;
  }
}
