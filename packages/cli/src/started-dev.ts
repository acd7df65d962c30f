import { type CapturedIo, capturedIo } from "./captured-io.ts";
import { runCli } from "./run-cli.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface StartedDev extends AsyncDisposable {
  readonly io: CapturedIo;
  readonly cwd: string;
  readonly url: string;
  /** Runs a command of a user of that server, in its folder. */
  engine(...args: string[]): Promise<Ran>;
  /** Ends it and answers its exit code. */
  stop(): Promise<number>;
}

/** For tests: `engine dev` in this process, on a folder of its own with these files. */
export async function startDev(files: Readonly<Record<string, string>>): Promise<StartedDev> {
  const folder = temporaryFolder(files);
  const stopped = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const io = capturedIo({ cwd: folder.path, env: { ENGINE_LOG_LEVEL: "warn" }, now: Date.now });
  const signals = { first: stopped.promise, second: new Promise<void>(() => {}) };
  const out = {
    ...io.out,
    write(text: string) {
      io.out.write(text);
      if (io.printed().includes("Try, in another terminal")) ready.resolve();
    },
  };
  const ended = runCli(["dev", ".", "--port", "0", "--no-watch"], {
    ...io,
    out,
    stopSignals: () => signals,
  });
  void ended.then(() => ready.resolve());
  await ready.promise;
  const [, url = ""] = /server +(http:\S+)/.exec(io.printed()) ?? [];
  const stop = () => {
    stopped.resolve();
    return ended;
  };
  return {
    io,
    cwd: folder.path,
    url,
    stop,
    async engine(...args) {
      const user = capturedIo({
        cwd: folder.path,
        env: { ENGINE_SERVER_URL: url },
        now: Date.now,
      });
      const code = await runCli(args, user);
      return { code, out: user.printed(), err: user.complained() };
    },
    async [Symbol.asyncDispose]() {
      await stop();
      folder.remove();
    },
  };
}
