import crypto from "node:crypto";
import type { BodyWorld } from "../../replay/calls/call.ts";
import { currentBody } from "./body.ts";
import { replace } from "./replace.ts";

/** `Math.random` and `crypto.randomUUID` of a body come from its seeded generator (EXE-31). */
export function installRandomness(): void {
  replace([Math], "random", (native) => () => {
    const body = currentBody();
    return body ? body.world.random() : native();
  });
  for (const holder of [crypto, globalThis.Crypto.prototype]) {
    replace([holder], "randomUUID", (native) => {
      return function randomUUID(this: unknown, ...args: unknown[]) {
        const body = currentBody();
        return body ? uuidFrom(body.world) : native.apply(this, args);
      };
    });
  }
}

/** Draws four numbers; another count would change what replays of older executions get. */
function uuidFrom(world: BodyWorld): string {
  const [a, b, c, d] = [word(world), word(world), word(world), word(world)];
  const version = (b & 0xffff0fff) | 0x4000;
  const variant = (c & 0x3fffffff) | 0x80000000;
  const digits = [a, version, variant, d].map((w) => (w >>> 0).toString(16).padStart(8, "0"));
  return digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function word(world: BodyWorld): number {
  return Math.floor(world.random() * 2 ** 32);
}
