import type { BodyWorld } from "./calls/call.ts";

interface WorldOptions {
  readonly seed: string;
  readonly now: () => number;
  readonly isReplaying: () => boolean;
  readonly timer?: BodyWorld["timer"];
  readonly warn: (message: string) => void;
}

/** What replay-safe globals in a body read (EXE-31). */
export class World implements BodyWorld {
  readonly timer: BodyWorld["timer"];
  readonly #options: WorldOptions;
  readonly #warned: Set<string> = new Set();
  #generator: (() => number) | undefined;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.timer = options.timer;
  }

  now(): number {
    return this.#options.now();
  }

  random(): number {
    this.#generator ??= generatorOf(this.#options.seed);
    return this.#generator();
  }

  get isReplaying(): boolean {
    return this.#options.isReplaying();
  }

  warn(key: string, message: string): void {
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.#options.warn(message);
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
