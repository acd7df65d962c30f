/** Tasks that many programs share; each notes what it was told when it begins. */
import { task } from "@engine/sdk";
import { did } from "../did.ts";

/** What a note says of a value: text as it is, the rest as JSON. */
export function told(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}

/** Gives back what it is given. */
export const echo = task({ name: "echo" }, async (value: unknown, ctx) => {
  await did(ctx, `echo ${told(value)}`);
  return value;
}) as <Value>(value: Value) => Promise<Value>;

export const add = task({ name: "add" }, async ([a, b]: readonly [number, number], ctx) => {
  await did(ctx, `add ${a} ${b}`);
  return a + b;
});

export const upper = task({ name: "upper" }, async (text: string, ctx) => {
  await did(ctx, `upper ${text}`);
  return text.toUpperCase();
});

/** Gives the value after some time; stops working when it is told to. */
export const late = task(
  { name: "late" },
  async ({ ms, value }: { readonly ms: number; readonly value: unknown }, ctx) => {
    await did(ctx, `late ${told(value)}`);
    await elapsed(ms, ctx.signal);
    return value;
  },
) as <Value>(of: { readonly ms: number; readonly value: Value }) => Promise<Value>;

/** Throws. */
export const fails = task({ name: "fails" }, async (message: string, ctx): Promise<never> => {
  await did(ctx, `fails ${message}`);
  throw new Error(message);
});

/** Never ends by itself. */
export const hangs = task({ name: "hangs" }, async (name: string, ctx): Promise<never> => {
  await did(ctx, `hangs ${name}`);
  return new Promise<never>((_resolve, reject) => {
    ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason), { once: true });
  });
});

function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
