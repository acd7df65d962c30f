/**
 * Records the histories that are missing in this folder. A recorded one is what an engine in use
 * has in its database: it stays as it is. `--replace <name>` is for one that was never released.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { goldens } from "./workflows.ts";

const [flag, ...names] = process.argv.slice(2);
if (flag !== undefined && flag !== "--replace") {
  throw new Error(`takes nothing, or --replace with names; got ${flag}`);
}
const unknown = names.filter((name) => !goldens.some((golden) => golden.name === name));
if (unknown.length > 0) throw new Error(`no workflow here is named ${unknown.join(", ")}`);

for (const { name, record } of goldens) {
  const file = join(import.meta.dirname, `${name}.json`);
  if (existsSync(file) && !names.includes(name)) continue;
  const engine = await record();
  writeFileSync(file, `${JSON.stringify(engine.history("e1"), null, 2)}\n`);
  const { state } = engine.get("e1");
  process.stdout.write(`recorded ${name}: ${state}, ${engine.events("e1").length} events\n`);
}
