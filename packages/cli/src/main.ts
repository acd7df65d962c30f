// What `bin/engine.js` loads: the command line of this process.
import { processIo } from "./io/process-io.ts";
import { runCli } from "./run-cli.ts";

const code = await runCli(process.argv.slice(2), processIo());
// What is printed is flushed first; then nothing that a user's module left open keeps the command.
process.exitCode = code;
for (const stream of [process.stdout, process.stderr]) {
  await new Promise<void>((resolve) => void stream.write("", () => resolve()));
}
process.exit();
