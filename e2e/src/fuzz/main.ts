/** `npm run fuzz`: random requests to a real server, judged by what is answered and what is left. */
import { fuzz } from "./fuzz.ts";
import { HELP, type Settings, settingsOf } from "./settings.ts";

// Servers and workers end with this process, which a signal would end without a word to them.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const say = (line: string) => void process.stdout.write(`${line}\n`);
const settings = settingsOrExit();
if (settings === undefined) say(HELP);
else process.exitCode = (await run(settings)) ? 0 : 1;
// Connections of clients that were cut may linger.
process.exit();

function settingsOrExit(): Settings | undefined {
  try {
    return settingsOf(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(2);
  }
}

async function run(settings: Settings): Promise<boolean> {
  const { seed, store, requests, atATime } = settings;
  say(`seed ${seed}, ${store}, ${requests} requests, ${atATime} at a time`);
  const began = performance.now();
  const { statuses, executions, honest, findings, requests: sent } = await fuzz(settings, say);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`);
  const seconds = Math.round((performance.now() - began) / 1_000);
  say(`${sent} requests in ${seconds} s, by status ${counts.join(", ")}`);
  say(`${executions} executions read, ${honest} honest runs beside`);
  say(findings.length === 0 ? "nothing found" : `${findings.length} findings`);
  return findings.length === 0;
}
