import { databaseUrl, formatInstant } from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import type { MigrationStatus } from "@engine/store";
import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { CliIo } from "../io/cli-io.ts";
import { fields, lines, table } from "../render/table.ts";
import { formatOption, printer, type ServerCall } from "../server-call.ts";

interface DbOptions {
  readonly format: "simple" | "json";
  readonly databaseUrl?: string;
}

interface Db {
  /** With user and password: for the store, never to be printed. */
  readonly url: string;
  readonly database: string;
  readonly store: typeof import("@engine/store");
  readonly print: ServerCall["print"];
}

/** `engine db …`: the tables of a database, which each server also brings up to date as it starts. */
export function addDb(program: Command, io: CliIo): void {
  const db = program
    .command("db")
    .description("Shows and upgrades the tables of the engine's database.");
  addUpgrade(db, io);
  addCurrent(db, io);
  addHistory(db, io);
}

function addUpgrade(db: Command, io: CliIo): void {
  const command = db
    .command("upgrade")
    .summary("Applies the migrations that a database has not had.")
    .description(
      "Applies the migrations that a database has not had. A server does the same as it starts.",
    );
  dbOptions(command).action((options: DbOptions) =>
    withDatabase(io, options, async ({ url, database, store, print }) => {
      const upgraded = await store.upgradeDatabase(url, { clock: io.now });
      const applied = upgraded.map(({ name }) => name);
      const result = applied.length === 0 ? "is up to date" : "was upgraded";
      print({ database, applied }, (_, { paint }) =>
        lines([
          `${paint("running", "✓")} ${database} ${result}`,
          ...applied.map((name) => `  ${name}`),
        ]),
      );
    }),
  );
  examples(command, [
    "db upgrade",
    "db upgrade --database-url postgres://engine:secret@db.internal:5432/engine",
  ]);
}

function addCurrent(db: Command, io: CliIo): void {
  const command = db
    .command("current")
    .description("Says which migration a database is at, and how many it has not had.");
  dbOptions(command).action((options: DbOptions) =>
    withDatabase(io, options, async ({ url, database, store, print }) => {
      const all = await store.migrationStatus(url);
      const current = all.findLast(({ applied_at }) => applied_at !== null);
      const pending = all.filter(({ status }) => status === "pending").length;
      const strange = all.filter(({ status }) => status === "unknown" || status === "changed");
      const record = {
        database,
        current: current ? recordOf(current) : null,
        pending,
        refused: strange.map(recordOf),
      };
      print(record, (_, { paint }) =>
        fields(paint, [
          ["database", database],
          ["migration", current?.name ?? "none yet"],
          ["pending", pending === 0 ? "none" : `${pending}; apply them: npx engine db upgrade`],
          ["refused", strange.map(whyRefused).join("\n") || undefined],
        ]),
      );
    }),
  );
  examples(command, ["db current", "db current --format json"]);
}

function addHistory(db: Command, io: CliIo): void {
  const command = db
    .command("history")
    .description("Lists the migrations of a database: those it has had, and those it has not.");
  dbOptions(command).action((options: DbOptions) =>
    withDatabase(io, options, async ({ url, store, print }) => {
      const items = (await store.migrationStatus(url)).map(recordOf);
      const { length } = items;
      print({ items, total: length, limit: length, offset: 0 }, (_, { paint }) =>
        table(
          ["MIGRATION", "STATUS", "APPLIED"],
          items.map(({ name, status, applied_at }) => [name, status, applied_at ?? ""]),
          paint,
        ),
      );
    }),
  );
  examples(command, ["db history", "db history --format json"]);
}

function dbOptions(command: Command): Command {
  return command
    .addOption(formatOption())
    .option(
      "--database-url <url>",
      "database to work on (default: ENGINE_DATABASE_URL, engine.toml, sqlite:<home>/engine.db)",
    );
}

async function withDatabase(
  io: CliIo,
  { format, databaseUrl: flag }: DbOptions,
  work: (db: Db) => Promise<void>,
): Promise<void> {
  const { config } = loadConfig({ ...io, flags: { database_url: flag } });
  const url = databaseUrl(config);
  // Loaded here, so that other commands start without a database driver.
  const store = await import("@engine/store");
  const database = store.shownDatabaseUrl(url);
  await work({ url, database, store, print: printer(io, format) });
}

function recordOf({ applied_at, ...migration }: MigrationStatus) {
  return { ...migration, applied_at: applied_at === null ? null : formatInstant(applied_at) };
}

function whyRefused({ name, status }: MigrationStatus): string {
  return status === "unknown"
    ? `${name}: of a newer engine; run that one`
    : `${name}: differs from this engine's; reinstall it, or choose another database`;
}
