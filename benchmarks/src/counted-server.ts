// A server whose store tells how many statements it has sent: the `engine` command has no such
// question. On SIGUSR2 it prints the count.
import { databaseUrl, resolveConfig } from "@engine/contract";
import { type Log, startServer } from "@engine/server";
import { openStore } from "@engine/store";

const silent: Log = {
  debug() {},
  info() {},
  warn() {},
  error: (...line) => console.error(...line),
};

const { config, problems } = resolveConfig({ env: process.env, flags: { server: { port: 0 } } });
if (!config) throw new Error(JSON.stringify(problems));
const store = await openStore(databaseUrl(config), { synchronous: config.store.synchronous });
const server = await startServer({ config, store, log: silent, version: "bench" });

let asked = 0;
process.on("SIGUSR2", () => {
  asked++;
  process.stdout.write(`statements ${asked} ${store.statementCount()} end\n`);
});
process.on("SIGTERM", () => void stop());
process.stdin.on("end", () => process.exit());
process.stdin.resume();
process.stdout.write(`serving ${server.url} end\n`);

async function stop(): Promise<void> {
  await server.close();
  await store.close();
  process.exit();
}
