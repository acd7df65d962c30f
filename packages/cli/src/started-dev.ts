import { type CapturedIo, capturedIo } from "./io/captured-io.ts";
import type { CliStream } from "./io/cli-io.ts";
import { runCli } from "./run-cli.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A wait that takes longer is in vain; a slow machine needs less. */
const LIMIT_MS = 30_000;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface StartedDev extends AsyncDisposable {
  readonly io: CapturedIo;
  readonly cwd: string;
  readonly url: string;
  /** The first match in what it prints, on either stream; waits for it. */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** Runs a command of a user of that server, in its folder. */
  engine(...args: string[]): Promise<Ran>;
  /** Ends it and answers its exit code. */
  stop(): Promise<number>;
}

interface Started {
  readonly watch?: boolean;
  /** What follows `engine dev`. */
  readonly args?: readonly string[];
}

/** For tests: `engine dev` in this process, on a folder of its own with these files. */
export async function startDev(
  files: Readonly<Record<string, string>>,
  options: Started = {},
): Promise<StartedDev> {
  const folder = temporaryFolder(files);
  const dev = await startDevIn(folder.path, options);
  return {
    ...dev,
    async [Symbol.asyncDispose]() {
      await dev.stop();
      folder.remove();
    },
  };
}

/** For tests: the same in a folder that is there, and stays. */
export async function startDevIn(
  cwd: string,
  { watch = false, args = ["."] }: Started = {},
): Promise<StartedDev> {
  const stopped = Promise.withResolvers<void>();
  const io = capturedIo({ cwd, env: { ENGINE_LOG_LEVEL: "warn" }, now: Date.now });
  const signals = { first: stopped.promise, second: new Promise<void>(() => {}) };
  const listeners = new Set<() => void>();
  const heard = (stream: CliStream): CliStream => ({
    ...stream,
    write(text) {
      stream.write(text);
      for (const listener of listeners) listener();
    },
  });
  const ended = runCli(["dev", ...args, "--port", "0", ...(watch ? [] : ["--no-watch"])], {
    ...io,
    out: heard(io.out),
    err: heard(io.err),
    stopSignals: () => signals,
  });
  const untilPrinted = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(io.printed()) ?? pattern.exec(io.complained());
        if (match) done(() => resolve(match));
      };
      const inVain = (why: string) => () => {
        reject(new Error(`${why} before ${pattern}:\n${io.printed()}${io.complained()}`));
      };
      const timer = setTimeout(() => done(inVain("too slow")), LIMIT_MS);
      const done = (settle: () => void) => {
        clearTimeout(timer);
        listeners.delete(look);
        settle();
      };
      listeners.add(look);
      void ended.then(() => done(inVain("it ended")));
      look();
    });
  // The last line that `dev` prints when it starts; a `dev` that ends before has said why.
  await untilPrinted(watch ? /Watching / : /Try, in another terminal/).catch(() => {});
  const [, url = ""] = /server +(http:\S+)/.exec(io.printed()) ?? [];
  const stop = () => {
    stopped.resolve();
    return ended;
  };
  return {
    io,
    cwd,
    url,
    stop,
    untilPrinted,
    async engine(...args) {
      const user = capturedIo({
        cwd,
        env: { ENGINE_SERVER_URL: url },
        now: Date.now,
      });
      const code = await runCli(args, user);
      return { code, out: user.printed(), err: user.complained() };
    },
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
