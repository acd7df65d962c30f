import { fileURLToPath } from "node:url";
import { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";

const WORKFLOWS = fileURLToPath(new URL("./conformance-workflows.ts", import.meta.url));
const SERVICE = "conformance";

type AddressOf = (engine: Engine, stack: AsyncDisposableStack) => Promise<string>;

/** Whatever offers a service by MCP, with sessions or without (MCP-16, MCP-17). */
const ADDRESSES = {
  server: async ({ url }) => `${url}/services/${SERVICE}/mcp`,
  gateway: async ({ home, url }, stack) => {
    // Whoever subscribes hears of new tools once the list is fetched again.
    const words = ["--host", "127.0.0.1", "--port", "0", "--cache-ttl", "0.2"];
    const env = { ENGINE_SERVER_URL: url };
    const started = new CliProcess(["service", "start", SERVICE, ...words], {
      ...{ cwd: home.path, env },
    });
    const [, root] = await stack.use(started).printed(/ on (http:\S+),/);
    return `${root}/mcp`;
  },
} as const satisfies Readonly<Record<string, AddressOf>>;

export type Endpoint = keyof typeof ADDRESSES;
/** Those that are tested. */
export const ENDPOINTS: readonly Endpoint[] = ["server", "gateway"];

/** A real service with the tools that the conformance suite calls. */
export interface ConformanceService extends AsyncDisposable {
  /** Of what is connected to, by endpoint. */
  urlOf(endpoint: Endpoint): string;
}

/** Starts a server, a worker and whatever else offers the service. */
export async function startConformanceService(): Promise<ConformanceService> {
  await using stack = new AsyncDisposableStack();
  const engine = stack.use(await startEngine({ workers: [] }));
  // Tasks see no variable that the engine itself reads.
  engine.startWorker("one", { E2E_SERVER_URL: engine.url });
  await succeed(engine, "workflow", "register", WORKFLOWS);
  await succeed(engine, "service", "create", SERVICE, "--namespace", SERVICE, "--mcp");
  const urls = new Map<Endpoint, string>();
  for (const endpoint of ENDPOINTS) urls.set(endpoint, await ADDRESSES[endpoint](engine, stack));
  const all = stack.move();
  return {
    urlOf: (endpoint) => urls.get(endpoint) ?? "",
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function succeed(engine: Engine, ...words: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await engine.cli(...words);
  if (code !== 0) throw new Error(`${words.join(" ")}: ${stdout}${stderr}`);
}
