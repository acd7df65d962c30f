import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EngineError } from "@engine/contract";
import { type Credential, readCredential } from "./credential.ts";
import { type LockTime, withFileLock } from "./file-lock.ts";

export interface CredentialsFileOptions extends LockTime {
  /** The user's home folder. */
  readonly home: string;
}

/** The file while nobody else writes it. */
export interface HeldCredentials {
  read(server_url: string): Promise<Credential | undefined>;
  save(server_url: string, credential: Credential): Promise<void>;
  /** Whether there was one. */
  remove(server_url: string): Promise<boolean>;
}

type Entries = Readonly<Record<string, unknown>>;

/** Others on the machine have no business here. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * What a user has logged in with, by server (AUTH-60): `~/.engine/credentials.json`. The file is
 * replaced whole, so that a reader never sees half of it and a crash leaves the one before.
 */
export class CredentialsFile {
  readonly path: string;
  readonly #time: LockTime;

  constructor({ home, clock, setTimer }: CredentialsFileOptions) {
    this.path = join(home, ".engine", "credentials.json");
    this.#time = { clock, setTimer };
  }

  /** @throws EngineError `invalid_input` for a file that this did not write. */
  async read(server_url: string): Promise<Credential | undefined> {
    const key = keyOf(server_url);
    const entries = await this.#entries();
    if (!Object.hasOwn(entries, key)) return undefined;
    const credential = readCredential(entries[key]);
    if (!credential) throw this.#unreadable(`its entry for ${key} is no credential`);
    return credential;
  }

  async save(server_url: string, credential: Credential): Promise<void> {
    await this.exclusively((held) => held.save(server_url, credential));
  }

  /** Whether there was one. */
  remove(server_url: string): Promise<boolean> {
    return this.exclusively((held) => held.remove(server_url));
  }

  /** Reads and writes while no other command does, in this process or another. */
  async exclusively<T>(work: (held: HeldCredentials) => Promise<T>): Promise<T> {
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await tighten(folder, FOLDER_MODE);
    const held: HeldCredentials = {
      read: (server_url) => this.read(server_url),
      save: async (server_url, credential) => {
        await this.#write({ ...(await this.#entries()), [keyOf(server_url)]: credential });
      },
      remove: async (server_url) => {
        const { [keyOf(server_url)]: known, ...others } = await this.#entries();
        if (known !== undefined) await this.#write(others);
        return known !== undefined;
      },
    };
    return withFileLock(`${this.path}.lock`, this.#time, () => work(held));
  }

  async #entries(): Promise<Entries> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
    await tighten(this.path, FILE_MODE);
    const entries = parsed(text);
    if (entries === undefined) throw this.#unreadable("it is not a JSON object");
    return entries;
  }

  async #write(entries: Entries): Promise<void> {
    const unfinished = `${this.path}.${randomUUID()}`;
    try {
      const file = await open(unfinished, "wx", FILE_MODE);
      try {
        await file.writeFile(`${JSON.stringify(entries, null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, this.path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  #unreadable(why: string): EngineError {
    return new EngineError(
      "invalid_input",
      `${this.path} cannot be used: ${why}; remove the file and log in again`,
    );
  }
}

/** One name for a server, however its address is written. */
function keyOf(server_url: string): string {
  const { origin, pathname } = new URL(server_url);
  return origin + pathname.replace(/\/+$/, "");
}

function parsed(text: string): Entries | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Entries) : undefined;
  } catch {
    return undefined;
  }
}

/** Takes from others what an editor or another umask has given them. */
async function tighten(path: string, mode: number): Promise<void> {
  const { mode: current } = await stat(path);
  // Where it belongs to somebody else, it is theirs to say who may read it.
  if (current & 0o077) await chmod(path, mode).catch(() => {});
}
