import { createClient } from "@engine/client";
import type { Registered } from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import type { Command } from "commander";
import { port } from "../arguments/option-values.ts";
import { refText } from "../arguments/workflow-ref.ts";
import { DevFiles } from "../dev/dev-files.ts";
import { DevReporter } from "../dev/dev-reporter.ts";
import { itemsOf, newVersions } from "../dev/file-news.ts";
import { givenVersions } from "../dev/given-versions.ts";
import { leftLines } from "../dev/news-lines.ts";
import { ReplayChecks } from "../dev/replay-checks.ts";
import { WatchLoop } from "../dev/watch-loop.ts";
import { yielding } from "../dev/yielding.ts";
import { examples } from "../examples.ts";
import type { CliIo } from "../io/cli-io.ts";
import { createLog, logMask } from "../io/log.ts";
import { processPorts } from "../io/process-ports.ts";
import { openServer } from "../open-server.ts";
import { counted } from "../render/counted.ts";
import { painter } from "../render/paint.ts";
import { fields, lines } from "../render/table.ts";
import { shellQuote } from "../render/value-text.ts";
import { registeredTable } from "../render/workflow-view.ts";
import { serveUntilStopped } from "../serve-until-stopped.ts";
import { isSavedSince, stampOf } from "../workflow-file/file-stamp.ts";
import { workflowFinder } from "../workflow-file/find-workflow-files.ts";
import { registerFile } from "../workflow-file/register-file.ts";

interface DevFlags {
  readonly host?: string;
  readonly port?: number;
  readonly watch: boolean;
  readonly yield?: boolean;
}

const WORKER_NAME = "dev";

export function addDev(program: Command, io: CliIo): void {
  const command = program
    .command("dev")
    .summary("Starts server and worker in one process, with the workflows of a folder.")
    .description(
      "Starts server and worker in one process and registers workflow files: those given, those below the folders given, or those of the current folder. A save registers them again; what runs keeps the version it began with, and is replayed on the new one to tell whether it could go on with it.",
    )
    .argument("[paths...]", "workflow files, or folders to search")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 = any free one, printed (default: 8000)", port)
    .option("--no-watch", "register the files once and do not watch them")
    .option(
      "--yield",
      "as it starts, leave each workflow alone whose newest version is of something else; a save registers it",
    )
    .action((paths: string[], flags: DevFlags) => dev(io, paths, flags));
  examples(command, [
    "dev",
    "dev src/workflows --port 9000",
    "dev hello.ts --no-watch",
    "dev examples/src --yield",
  ]);
}

async function dev(io: CliIo, paths: readonly string[], flags: DevFlags): Promise<void> {
  const { config } = loadConfig({
    ...io,
    flags: { server: { host: flags.host, port: flags.port } },
  });
  const find = workflowFinder(paths, io.cwd);
  const signals = io.stopSignals();
  const mask = logMask();
  const log = await createLog(config.log_level, io, mask);
  const paint = painter(io.out, io.env);

  // With authorization on, the process has to show who it is to itself (AUTH-63).
  const token = `engine_in_${processPorts.token()}`;
  const engine = await openServer(config, log, { ownToken: token, mask });
  const { url } = engine.server;
  const { startWorker } = await import("@engine/worker");
  const refused = Promise.withResolvers<void>();
  // Listened to once everything is printed; until then a refusal must not count as unhandled.
  refused.promise.catch(() => {});
  const worker = await startWorker({
    ...processPorts,
    name: WORKER_NAME,
    link: engine.server.workers,
    config: { ...config.workers, home: config.home },
    log,
    exit: (_code, message) => refused.reject(new Error(message)),
  });
  await worker.connected;

  io.out.write(lines([paint("strong", "engine is running")]));
  io.out.write(
    fields(paint, [
      ["server", url],
      ["worker", `${WORKER_NAME}, in this process`],
      ["database", engine.database],
    ]),
  );
  // What it sends is for this process, whatever the address.
  const client = createClient({ baseUrl: url, token, warn: () => undefined });
  const yields = flags.yield ? yielding(client, givenVersions(config.home)) : undefined;
  const files = new DevFiles({
    find,
    stamp: stampOf,
    isSavedSince,
    register: (path) => (yields ? yields.register(path) : registerFile(path, client)),
    clock: io.now,
  });
  const serverFlag = url === config.server_url.replace(/\/+$/, "") ? "" : ` --server-url ${url}`;
  const reporter = new DevReporter(io, serverFlag);
  const { news } = await files.look();
  yields?.end();
  reporter.problems(news);
  const items = itemsOf(news);
  const where = paths.length ? paths.join(", ") : io.cwd;
  const left = yields?.left ?? [];
  if (items.length || !left.length) {
    const none = news.length ? ALL_REFUSED : noFiles(where, flags);
    io.out.write(`\n${items.length ? registeredTable(items, paint, false) : none}`);
  }
  if (left.length) io.out.write(`\n${leftLines(left, io.cwd)}`);
  io.out.write(`\n${thingsToTry(items, serverFlag)}`);
  if (flags.watch) io.out.write(`\n${watching(files.inputs.size)}`);

  const checks = new ReplayChecks({
    client,
    baseUrl: url,
    token,
    report: (checked) => reporter.checked(checked),
    setTimer: processPorts.setTimer,
  });
  for (const version of newVersions(news)) checks.add(version);
  const loop =
    flags.watch &&
    new WatchLoop({
      files,
      clock: io.now,
      setTimer: processPorts.setTimer,
      report(saved) {
        reporter.saved(saved);
        for (const version of newVersions(saved)) checks.add(version);
      },
      failed: (message) => reporter.lookFailed(message),
    });

  await serveUntilStopped({
    signals,
    ended: refused.promise,
    async stop() {
      io.out.write("stopping: running work gets time to finish; press Ctrl-C again to stop now\n");
      if (loop) await loop.close();
      await checks.close();
      await worker.stop();
      await engine.close();
    },
    abort: () => worker.stop({ abort: true }),
  });
}

const ALL_REFUSED = "Nothing is registered: every file has problems, see above.\n";

/** @param where What was searched, as it was given. */
function noFiles(where: string, flags: DevFlags): string {
  const then = flags.watch ? "save it there" : "npx engine workflow register FILE";
  return `No workflow files in ${where}. Write one that imports @engine/sdk, then: ${then}\n`;
}

function watching(fileCount: number): string {
  if (fileCount === 0) return "Watching for files: a save is registered at once.\n";
  return `Watching ${counted(fileCount, "file")}: a save is registered at once; what runs keeps the version it began with.\n`;
}

/** Three commands that work as they are printed. */
function thingsToTry(items: Registered["items"], serverFlag: string): string {
  const greeting = items.find(({ name }) => /hello/i.test(name));
  const first = greeting ?? items[0];
  const input = greeting ? ` ${shellQuote('"World"')}` : "";
  const commands = [
    first ? `workflow run ${refText(first)}${input} --mode sync` : "health",
    "workflow list",
    "execution list",
  ];
  return lines([
    "Try, in another terminal:",
    ...commands.map((command) => `  npx engine ${command}${serverFlag}`),
  ]);
}
