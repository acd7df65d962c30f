import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@engine/client";
import type { ServiceRun } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";

const execute = promisify(execFile);
const example = (name: string) =>
  fileURLToPath(new URL(`../../../examples/src/${name}`, import.meta.url));
const PLACES = ["a server", "an address of its own"] as const;
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

let engine: Engine;
let alone: CliProcess;
/** Where a service is found: on the server, and where a process serves nothing else. */
let places: Record<(typeof PLACES)[number], { base: string; endpoints: string; mcp: string }>;

beforeAll(async () => {
  engine = await startEngine();
  for (const words of [
    ["workflow", "register", example("billing.ts")],
    ["service", "create", "billing", "--namespace", "billing", "--mcp"],
  ]) {
    const { code, stderr } = await engine.cli(...words);
    if (code !== 0) throw new Error(stderr);
  }
  alone = new CliProcess(["service", "start", "billing", "--port", "0", "--host", "127.0.0.1"], {
    cwd: engine.home.path,
    env: { ENGINE_SERVER_URL: engine.url },
  });
  const [, own = "", mcp = ""] = await alone.printed(/ on (http:\S+), .*MCP on (http:\S+)/);
  const endpoints = `${engine.url}/services/billing`;
  places = {
    "a server": { base: engine.url, endpoints, mcp: `${endpoints}/mcp` },
    "an address of its own": { base: own, endpoints: own, mcp },
  };
});

afterAll(async () => {
  await alone?.kill();
  await engine?.[Symbol.asyncDispose]();
});

const BILLED = { id: "i1", receipt: "receipt-i1", total: 62 };

/** Executions of the service's workflows so far. */
async function counted(): Promise<number> {
  return (await engine.http.get<{ total: number }>("/executions")).body.total;
}

test.skipIf(!hasCurl).each(PLACES)(
  "SVC-30 SVC-45 GW-1 curl calls a service at %s: the output, a pause, a resume",
  async (place) => {
    const { base, endpoints } = places[place];
    const curl = async (url: string, body: unknown) => {
      const { stdout } = await execute("curl", ["-sS", "-d", JSON.stringify(body), url]);
      return JSON.parse(stdout) as unknown;
    };
    expect(await curl(`${endpoints}/invoice`, { id: "i1", cents: 50 })).toEqual(BILLED);
    const asked = (await curl(`${endpoints}/payout`, { to: "ada", cents: 900 })) as ServiceRun;
    if (asked.state !== "PAUSED") throw new Error(`it is ${asked.state}`);
    const paid = await curl(base + asked.resume_url, { approved: true });
    expect(paid).toBe("transferred 900 cents");
  },
);

test.each(PLACES)(
  "SVC-30 GW-4 the typed client calls a service at %s by the same routes",
  async (place) => {
    const { services } = createClient({ baseUrl: places[place].base });
    const of = (workflow: string) => ({ service: "billing", workflow });
    const billed = await services.run({ params: of("invoice"), body: { id: "i1", cents: 50 } });
    expect(billed.body).toEqual(BILLED);
    const asked = await services.run({ params: of("payout"), body: { to: "ada", cents: 900 } });
    const { execution_id } = asked.body as ServiceRun;
    const paid = await services.resume({
      params: { ...of("payout"), execution_id },
      body: { approved: true },
    });
    expect(paid.body).toBe("transferred 900 cents");
  },
);

test.each(PLACES)(
  "MCP-1 MCP-8 MCP-9 MCP-14 the official MCP client calls a service at %s as docs/mcp.md does",
  async (place) => {
    const before = await counted();
    // It asserts what it gets.
    const { stdout } = await execute(process.execPath, [
      example("billing.mcp.ts"),
      places[place].mcp,
    ]);
    expect(stdout).toMatch(/^15 tools /);
    // An invoice, a payout, and one refund that was asked for twice.
    expect((await counted()) - before).toBe(3);
  },
);

test("SCLI-1 MCP-3 the address that the tools are listed with is the one that clients call", async () => {
  const { code, stdout } = await engine.cli("service", "tools", "billing");
  expect(code).toBe(0);
  expect(stdout).toContain(`  MCP   ${places["a server"].mcp}\n`);
});
