import type { Command } from "commander";
import type { CliIo } from "../io/cli-io.ts";
import { addStartServer } from "./start-server.ts";
import { addStartWorker } from "./start-worker.ts";

/** `engine start …`: the processes of an engine, each on its own. */
export function addStart(program: Command, io: CliIo): void {
  const start = program.command("start").description("Starts a server or a worker.");
  addStartServer(start, io);
  addStartWorker(start, io);
}
