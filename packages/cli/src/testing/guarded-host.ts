import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@engine/client";
import { Config } from "@engine/contract";
import { type Server, startServer } from "@engine/server";
import { openSqliteStore, type Store } from "@engine/store";
import { onTestFinished } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import type { CliIo } from "../io/cli-io.ts";
import { runCli } from "../run-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface Typed extends Partial<Omit<CliIo, "out" | "err">> {
  readonly stdin?: string;
  /** Null sends none; by default the admin's key. */
  readonly token?: string | null;
  readonly columns?: number;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface GuardedHost {
  readonly server: Server;
  readonly store: Store;
  readonly url: string;
  /** Of the first admin. */
  readonly key: string;
  /** The folder of the user who types, and that of the server's data. */
  readonly cwd: string;
  readonly home: string;
  /** The client of the admin. */
  readonly client: Client;
  /** What a user types, who is the admin unless another token is given. */
  engine(args: readonly string[], typed?: Typed): Promise<Ran>;
  /** Ends the server; its folder stays until the test ends. */
  close(): Promise<void>;
  /** Makes a service account with these permissions; answers its key. */
  account(subject: string, permissions: readonly string[]): Promise<string>;
}

interface Parts {
  /** `[engine.security.encryption]` */
  readonly encryption?: object;
  /** The folder of a host that was there before. */
  readonly cwd?: string;
}

/** For tests: a server that asks who calls, with a database in a file, and a command line beside it. */
export async function guardedHost({ encryption, cwd }: Parts = {}): Promise<GuardedHost> {
  const folder = cwd === undefined ? temporaryFolder({}) : { path: cwd, remove: () => undefined };
  const home = join(folder.path, "engine");
  const path = join(home, "engine.db");
  const store = await openSqliteStore({ path, synchronous: "normal", clock: Date.now });
  const config = Config.parse({
    home,
    server: { port: 0 },
    security: { auth: { enabled: true }, ...(encryption && { encryption }) },
  });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= server.close().then(() => store.close());
    return closing;
  };
  onTestFinished(async () => {
    await close();
    folder.remove();
  });
  const key = readFileSync(join(home, "admin-key"), "utf8").trim();
  const client = createClient({ baseUrl: server.url, token: key });
  const env = { HOME: folder.path, ENGINE_HOME: home, ENGINE_SERVER_URL: server.url };
  let roles = 0;
  return {
    server,
    store,
    url: server.url,
    key,
    cwd: folder.path,
    home,
    client,
    close,
    async engine(args, { stdin = "", token = key, columns, ...parts } = {}) {
      const io = capturedIo({
        cwd: folder.path,
        env: token === null ? env : { ...env, ENGINE_AUTH_TOKEN: token },
        readStdin: async () => stdin,
        now: Date.now,
        ...(columns !== undefined && { columns }),
        ...parts,
      });
      const code = await runCli([...args], io);
      return { code, out: io.printed(), err: io.complained() };
    },
    async account(subject, permissions) {
      const name = `role-${++roles}`;
      await client.roles.create({ body: { name, permissions: [...permissions] } });
      const body = { subject, type: "service_account" as const, roles: [name] };
      await client.principals.create({ body });
      const made = await client.principals.createKey({
        params: { subject },
        body: { name: "laptop" },
      });
      return made.key;
    },
  };
}
