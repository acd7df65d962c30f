import { fileURLToPath } from "node:url";
import { startProcess } from "../bench-process.ts";
import type { Cleanup } from "../cleanup.ts";
import { JsonClient } from "../json-client.ts";
import { PEERS } from "./installed-peers.ts";

/** A program that serves an application; see `serve-app.ts`. */
export interface AppProgram {
  readonly url: string;
  /** Calls a handler of its application. */
  call<Answer>(handler: string, body?: unknown): Promise<Answer>;
}

type Env = Readonly<Record<string, string>>;

/** Starts a program of `benchmarks/peers/src` and waits until it serves. */
export function startPeerProgram(name: string, env: Env, cleanup: Cleanup): Promise<AppProgram> {
  return start(new URL(`src/${name}.ts`, PEERS), { env, nodeArgs: [] }, cleanup);
}

/** The same with a program of this folder, which has the engine in its process. */
export function startOurProgram(name: string, env: Env, cleanup: Cleanup): Promise<AppProgram> {
  const nodeArgs = ["--conditions=@engine/source"];
  return start(new URL(`${name}.ts`, import.meta.url), { env, nodeArgs }, cleanup);
}

async function start(
  program: URL,
  { env, nodeArgs }: { readonly env: Env; readonly nodeArgs: readonly string[] },
  cleanup: Cleanup,
): Promise<AppProgram> {
  const file = fileURLToPath(program);
  const child = startProcess(file, [file], {
    cwd: fileURLToPath(new URL(".", program)),
    env: { NODE_ENV: "production", ...env },
    nodeArgs,
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
