import type { BodyWorld } from "./calls/call.ts";
import type { Core } from "./core.ts";

interface WorldOptions extends Pick<BodyWorld, "now" | "timer"> {
  readonly seed: string;
}

/** What replay-safe globals in a body read (EXE-31). */
export class World implements BodyWorld {
  readonly now: () => number;
  readonly timer: BodyWorld["timer"];
  readonly #core: Core;
  readonly #seed: string;
  readonly #warned: Set<string> = new Set();
  #generator: (() => number) | undefined;

  constructor(core: Core, { seed, now, timer }: WorldOptions) {
    this.#core = core;
    this.#seed = seed;
    this.now = now;
    this.timer = timer;
  }

  random(): number {
    this.#generator ??= generatorOf(this.#seed);
    return this.#generator();
  }

  get isReplaying(): boolean {
    return this.#core.isReplaying;
  }

  warn(key: string, message: string): void {
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    const { host, info } = this.#core.options;
    host.log("warn", message, { execution_id: info.execution_id });
  }
}

/** sfc32: small, fast and good enough for jitter and samples; for secrets there is `uuid()`. */
function generatorOf(seed: string): () => number {
  let [a, b, c, d] = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  // The first numbers of near seeds are alike.
  for (let i = 0; i < 15; i++) next();
  return next;
}

function hash(text: string, salt: number): number {
  let h = 0x811c9dc5 ^ salt;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h ^ (h >>> 15);
}
