import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { createHome } from "./home.ts";
import type { Measure } from "./measure.ts";
import { median, percentile } from "./stats.ts";
import { submitFor } from "./submit.ts";
import { count, ms } from "./table.ts";

const SERVER = fileURLToPath(new URL("./echo-server.ts", import.meta.url));
const CASES = [
  { concurrency: 1, commit: false },
  { concurrency: 32, commit: false },
  { concurrency: 200, commit: false },
  { concurrency: 1, commit: true },
];

/**
 * What a bare round trip between two processes costs on this machine, and the same with one durable
 * commit on the way: the floor under every sequential step of a run on two processes.
 */
export const echoCeiling: Measure = {
  name: "echo-ceiling",
  means: "a bare HTTP echo between two processes, with and without a commit",
  stores: ["sqlite"],
  async run(bench) {
    const figures: Record<string, number> = {};
    const rows: string[][] = [];
    for (const { concurrency, commit } of CASES) {
      const { taken, elapsed } = await echoes(bench.quick ? 500 : 3_000, concurrency, commit);
      const name = commit ? "step" : "echo";
      const perSecond = taken.length / (elapsed / 1000);
      figures[`${name}_p50_ms_at_${concurrency}`] = median(taken);
      figures[`${name}_per_second_at_${concurrency}`] = perSecond;
      const label = `${concurrency} at a time${commit ? ", each with a commit" : ""}`;
      rows.push([label, ms(median(taken)), ms(percentile(taken, 99)), count(perSecond)]);
    }
    const columns = ["echo", "p50", "p99", "requests/s"];
    const title = "Ceiling: a bare HTTP echo between two processes";
    return { tables: [{ title, columns, rows }], figures, samples: {} };
  },
};

async function echoes(milliseconds: number, concurrency: number, commit: boolean) {
  const home = await createHome();
  const args = commit ? [SERVER, `${home.path}/steps.db`] : [SERVER];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    for (let i = 0; i < 200; i++) await echo(agent, Number(port));
    const taken: number[] = [];
    const elapsed = await submitFor(milliseconds, concurrency, async () => {
      const start = performance.now();
      await echo(agent, Number(port));
      taken.push(performance.now() - start);
    });
    return { taken, elapsed };
  } finally {
    agent.destroy();
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
    await home.remove();
  }
}

function echo(agent: Agent, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, method: "POST", agent }, (answer) => {
      answer.once("end", resolve).resume();
    });
    outgoing.once("error", reject).end('{"n":3}');
  });
}
