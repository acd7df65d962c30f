import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Config, parseInstant, type WorkerCredential } from "@engine/contract";
import { messageOf } from "../transient.ts";
import type { Log } from "../world.ts";

export interface OwnCredentialOptions {
  /** The worker's. */
  readonly name: string;
  readonly home: string;
  readonly config: Pick<
    Config["workers"],
    "join_token" | "join_token_file" | "bootstrap_token" | "bootstrap_token_file"
  >;
  readonly log: Pick<Log, "warn">;
}

/**
 * With what a worker proves who it is (AUTH-52): the credential that the server gave it, kept in a file
 * that only its owner reads, and the tokens with which it may join. None of them is ever logged.
 */
export class OwnCredential {
  readonly #options: OwnCredentialOptions;
  readonly #folder: string;
  #current: WorkerCredential | undefined;
  #onKept: (() => void) | undefined;

  constructor(options: OwnCredentialOptions) {
    this.#options = options;
    this.#folder = join(options.home, "workers", options.name);
  }

  /** What every call is sent with; undefined before a server gave one, and where none does. */
  get token(): string | undefined {
    return this.#current?.token;
  }

  /** Milliseconds since 1970, by the server's clock. */
  get expiresAt(): number | undefined {
    return this.#current && parseInstant(this.#current.expires_at);
  }

  /** What to register with, in the order in which it is tried, as it is at this moment. */
  candidates(): readonly string[] {
    const { join_token, join_token_file, bootstrap_token, bootstrap_token_file } =
      this.#options.config;
    const all = [
      this.token,
      this.#read(this.#path),
      join_token,
      join_token_file && this.#read(join_token_file),
      bootstrap_token,
      bootstrap_token_file && this.#read(bootstrap_token_file),
    ];
    return [...new Set(all.map((token) => token?.trim()).filter((token) => !!token))] as string[];
  }

  /**
   * Takes what the server gave. It is in the file before it is used: its first use ends the one before
   * it. Null: the server asks for none.
   */
  keep(credential: WorkerCredential | null): void {
    if (credential) this.#write(credential.token);
    this.#current = credential ?? undefined;
    if (credential) this.#onKept?.();
  }

  /** Calls back whenever there is a new one. */
  onKept(then: () => void): void {
    this.#onKept = then;
    if (this.#current) then();
  }

  get #path(): string {
    return join(this.#folder, "credential");
  }

  #read(path: string): string | undefined {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#warn("read", path, error);
      return undefined;
    }
  }

  #write(token: string): void {
    const fresh = `${this.#path}.writing`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const file = openSync(fresh, "w", 0o600);
      try {
        writeSync(file, `${token}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(fresh, this.#path);
    } catch (error) {
      // The worker goes on with what it has in memory; after a restart it joins by a token again.
      this.#warn("written", this.#path, error);
    }
  }

  #warn(what: string, path: string, error: unknown): void {
    const message = `a file with a credential could not be ${what}`;
    this.#options.log.warn({ path, error: messageOf(error) }, message);
  }
}
