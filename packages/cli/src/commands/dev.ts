import { relative } from "node:path";
import { createClient } from "@engine/client";
import type { Config, Registered } from "@engine/contract";
import { loadConfig } from "@engine/local/config";
import type { Command } from "commander";
import type { CliIo } from "../cli-io.ts";
import { examples } from "../examples.ts";
import { createLog } from "../log.ts";
import { openServer } from "../open-server.ts";
import { port } from "../option-values.ts";
import { processPorts } from "../process-ports.ts";
import { type Paint, painter } from "../render/paint.ts";
import { fields, lines } from "../render/table.ts";
import { shellQuote } from "../render/value-text.ts";
import { registeredTable } from "../render/workflow-view.ts";
import { serveUntilStopped } from "../serve-until-stopped.ts";
import { findWorkflowFiles, type WorkflowFile } from "../workflow-file/find-workflow-files.ts";
import { refText } from "../workflow-ref.ts";
import { registerFile, reportProblems } from "./workflow-register.ts";

interface DevFlags {
  readonly host?: string;
  readonly port?: number;
  readonly watch: boolean;
}

const WORKER_NAME = "dev";

export function addDev(program: Command, io: CliIo): void {
  const command = program
    .command("dev")
    .summary("Starts server and worker in one process, with the workflows of a folder.")
    .description(
      "Starts server and worker in one process and registers workflow files: those given, those below the folders given, or those of the current folder.",
    )
    .argument("[paths...]", "workflow files, or folders to search")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 = any free one, printed (default: 8000)", port)
    .option("--no-watch", "do not watch the files")
    .action((paths: string[], flags: DevFlags) => dev(io, paths, flags));
  examples(command, ["dev", "dev src/workflows --port 9000", "dev hello.ts --no-watch"]);
}

async function dev(io: CliIo, paths: readonly string[], flags: DevFlags): Promise<void> {
  const { config } = loadConfig({
    cwd: io.cwd,
    env: io.env,
    flags: { server: { host: flags.host, port: flags.port } },
  });
  const files = findWorkflowFiles(paths, io.cwd);
  const signals = io.stopSignals();
  const log = await createLog(config.log_level, io);
  const paint = painter(io.out, io.env);

  const engine = await openServer(config, log);
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
    fields(
      [
        ["server", url],
        ["worker", `${WORKER_NAME}, in this process`],
        ["database", engine.database],
      ],
      paint,
    ),
  );
  const items = await registerAll(io, files, url);
  io.out.write(`\n${registered(items, files, io, paint)}`);
  io.out.write(`\n${thingsToTry(items, url, config)}`);
  if (flags.watch) {
    io.out.write(
      "\nFiles are not watched yet: register a changed file with `npx engine workflow register FILE`.\n",
    );
  }

  await serveUntilStopped({
    signals,
    ended: refused.promise,
    async stop() {
      io.out.write("stopping: running work gets time to finish; press Ctrl-C again to stop now\n");
      await worker.stop();
      await engine.close();
    },
    abort: () => worker.stop({ abort: true }),
  });
}

async function registerAll(
  io: CliIo,
  files: readonly WorkflowFile[],
  baseUrl: string,
): Promise<Registered["items"]> {
  const client = createClient({ baseUrl });
  const items: Registered["items"] = [];
  for (const { path } of files) {
    const outcome = await registerFile(path, client);
    reportProblems(io, outcome);
    if (outcome.registered) items.push(...outcome.registered.items);
    else io.err.write(`error: ${relative(io.cwd, path)} cannot be registered\n`);
  }
  return items;
}

function registered(
  items: Registered["items"],
  files: readonly WorkflowFile[],
  io: CliIo,
  paint: Paint,
): string {
  if (items.length) return registeredTable(items, paint, false);
  if (files.length) return "Nothing is registered: every file has problems, see above.\n";
  return `No workflow files in ${io.cwd}. Write one that imports @engine/sdk, then: npx engine workflow register FILE\n`;
}

/** Three commands that work as they are printed. */
function thingsToTry(items: Registered["items"], url: string, config: Config): string {
  const server = url === config.server_url.replace(/\/+$/, "") ? "" : ` --server-url ${url}`;
  const greeting = items.find(({ name }) => /hello/i.test(name));
  const first = greeting ?? items[0];
  const input = greeting ? ` ${shellQuote('"World"')}` : "";
  const commands = [
    first ? `workflow run ${refText(first)}${input} --mode sync` : "health",
    "workflow list",
    "execution list",
  ];
  return lines(["Try, in another terminal:", ...commands.map((c) => `  npx engine ${c}${server}`)]);
}
