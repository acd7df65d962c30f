import { fileURLToPath } from "node:url";
import { startProcess } from "../bench-process.ts";
import type { Cleanup } from "../cleanup.ts";
import { JsonClient } from "../json-client.ts";
import { PEERS } from "./installed-peers.ts";

export interface PeerProgram {
  readonly url: string;
  /** Calls a handler of its application. */
  call<Answer>(handler: string, body?: unknown): Promise<Answer>;
}

/** Starts a program of `benchmarks/peers/src` and waits until it serves. */
export async function startPeerProgram(
  name: string,
  env: Readonly<Record<string, string>>,
  cleanup: Cleanup,
): Promise<PeerProgram> {
  const program = fileURLToPath(new URL(`src/${name}.ts`, PEERS));
  const child = startProcess(name, [program], {
    cwd: fileURLToPath(PEERS),
    env: { NODE_ENV: "production", ...env },
  });
  cleanup.push(() => child.stop());
  const [, text = ""] = await child.printed(/^ready (.*) end$/m);
  const { port } = JSON.parse(text) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const client = new JsonClient(url);
  cleanup.push(() => Promise.resolve(client.close()));
  return {
    url,
    call: (handler, body = null) => client.send({ method: "POST", path: `/${handler}`, body }),
  };
}
