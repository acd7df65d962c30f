/** `npm run differential`: random programs on real processes, judged by what they leave. */
import { startTestPostgres } from "@engine/store/test-postgres";
import { differential } from "./differential.ts";
import { HELP, type Settings, settingsOf } from "./settings.ts";

// Servers and workers end with this process, which a signal would end without a word to them.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const say = (line: string) => void process.stdout.write(`${line}\n`);
const settings = settingsOrExit();
if (settings === undefined) say(HELP);
else process.exitCode = (await run(settings)) ? 0 : 1;

function settingsOrExit(): Settings | undefined {
  try {
    return settingsOf(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(2);
  }
}

async function run(settings: Settings): Promise<boolean> {
  const { store, seed, atATime, kills } = settings;
  say(`seed ${seed}, ${store}, ${atATime} at a time, kills ${kills}`);
  const postgres = store === "postgres" ? await startTestPostgres() : undefined;
  const began = performance.now();
  try {
    const createDatabase = async () => (await postgres?.createDatabase()) ?? "";
    const tally = await differential({ ...settings, createDatabase, say });
    for (const line of tally.lines((performance.now() - began) / 1_000)) say(line);
    return tally.failed.length === 0;
  } finally {
    await postgres?.stop();
  }
}
