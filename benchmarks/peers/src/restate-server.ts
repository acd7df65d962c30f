// The Restate server from its package, with this program's arguments; ends with whoever started it.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";

const { resolve } = createRequire(import.meta.url);
const binary = resolve(`@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`);
const server = spawn(binary, process.argv.slice(2), { stdio: ["ignore", "inherit", "inherit"] });
server.on("exit", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => server.kill("SIGTERM"));
process.stdin.on("end", () => server.kill("SIGKILL"));
process.stdin.resume();
