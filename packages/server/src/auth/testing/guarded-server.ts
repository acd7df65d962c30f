import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { openSqliteStore, type Store } from "@engine/store";
import { onTestFinished } from "vitest";
import { type Server, type ServerOptions, startServer } from "../../server.ts";
import { silent } from "../../testing/start-engine.ts";

export interface GuardedServer {
  readonly server: Server;
  readonly store: Store;
  readonly home: string;
  /** Of the first admin; undefined where there is none. */
  readonly adminKey: string | undefined;
  /** Asks with a token, as JSON both ways. */
  ask(path: string, token?: string, body?: unknown): Promise<Asked>;
}

export interface Asked {
  readonly status: number;
  // Tests say what they expect of it.
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any route
  readonly body: any;
  readonly headers: Headers;
}

type Options = Partial<Omit<ServerOptions, "config">> & {
  /** `[engine.security.auth]` */
  readonly auth?: object;
  /** Other keys of `[engine]`. */
  readonly config?: object;
  readonly home?: string;
};

/** A folder for the files of a server, gone when the test ends. */
export function homeFolder(): string {
  const home = mkdtempSync(join(tmpdir(), "engine-auth-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** A server with authorization on, on a store in memory unless one is given. */
export async function guardedServer(options: Options = {}): Promise<GuardedServer> {
  const { auth = { enabled: true }, config = {}, home = homeFolder(), ...others } = options;
  const clock = others.clock ?? Date.now;
  const store =
    others.store ?? (await openSqliteStore({ path: ":memory:", synchronous: "normal", clock }));
  const server = await startServer({
    ...{ log: silent, version: "0" },
    ...others,
    store,
    config: Config.parse({ home, server: { port: 0 }, security: { auth }, ...config }),
  });
  onTestFinished(async () => {
    await server.close();
    if (!others.store) await store.close();
  });
  const ask: GuardedServer["ask"] = async (path, token, body) => {
    const response = await fetch(server.url + path, {
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text ? JSON.parse(text) : undefined,
      headers: response.headers,
    };
  };
  return { server, store, home, adminKey: adminKeyIn(home), ask };
}

export function adminKeyIn(home: string): string | undefined {
  try {
    return readFileSync(join(home, "admin-key"), "utf8").trim();
  } catch {
    return undefined;
  }
}
