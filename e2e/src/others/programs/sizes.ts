import { createHash } from "node:crypto";
import { call, map, pause, signal, sleep, type TaskError, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { echo } from "./tasks.ts";

const KIB = 1024;
/** Up to this many bytes a value lies in the log. */
const INLINE = 256 * KIB;

/** Text of a number of bytes, no two parts of which are the same. */
function textOf(size: number, seed = 1): string {
  const parts: string[] = [];
  for (let length = 0; length < size; length += 64) {
    parts.push(`${seed} ${length} `.padEnd(64, "abcdefghijklmnopqrstuvwxyz0123456789"));
  }
  return parts.join("").slice(0, size);
}

const digest = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

const makes = task({ name: "makes" }, async (size: number, ctx) => {
  await did(ctx, `makes ${size}`);
  return textOf(size);
});
const measures = task({ name: "measures" }, async (text: string, ctx) => {
  await did(ctx, `measures ${text.length}`);
  return [text.length, digest(text)] as const;
});

export const byteForByte = workflow({ name: "byte_for_byte" }, async (size: number) => {
  const text = await makes(size);
  await sleep(20);
  const [length, found] = await measures(text);
  return [length, found === digest(text), text === textOf(size)];
});

export const largeOutput = workflow({ name: "large_output" }, async (size: number) => {
  await sleep(10);
  return textOf(size, 3);
});

export const largeInput = workflow({ name: "large_input" }, async (text: string) => {
  await sleep(20);
  const [length, found] = await measures(text);
  return [length, found === digest(text)];
});

const bytes = task({ name: "bytes" }, async (size: number, ctx) => {
  await did(ctx, `bytes ${size}`);
  return Uint8Array.from({ length: size }, (_, i) => (i * 7 + (i >> 8)) & 255);
});
const sums = task({ name: "sums" }, async (given: Uint8Array, ctx) => {
  await did(ctx, `sums ${given.length}`);
  return digest(given);
});

export const largeBytes = workflow({ name: "large_bytes" }, async (size: number) => {
  const given = await bytes(size);
  await sleep(20);
  const found = await sums(given);
  return [given instanceof Uint8Array, given.length, found === digest(given)];
});

export const manyLarge = workflow({ name: "many_large" }, async () => {
  const sizes = [100, 300, 257, 256, 400, 10].map((size) => size * KIB);
  const texts = await map(sizes, (size) => makes(size));
  await sleep(20);
  return texts.every((text, i) => text === textOf(sizes[i] ?? 0));
});

export const largeThere = workflow({ name: "large_there" }, async (text: string) => {
  return `${text.length} ${await echo(text.slice(0, 8))} ${text.slice(8)}`;
});

export const largeThroughAChild = workflow({ name: "large_through_a_child" }, async () => {
  const text = textOf(700 * KIB, 9);
  const back = await call(largeThere, text);
  return back === `${text.length} ${text.slice(0, 8)} ${text.slice(8)}`;
});

export const largeLetter = workflow({ name: "large_letter" }, async () => {
  const letter = await signal<string>("letter");
  const answer = await pause<string>("ask", { output: textOf(300 * KIB) });
  return [letter, answer].map((text) => text === textOf(600 * KIB, 5));
});

export const tooLarge = workflow({ name: "too_large" }, async () => {
  const made = await makes(17 * KIB * KIB).catch((error: TaskError) => error.failure.type);
  const given = await measures(textOf(17 * KIB * KIB)).catch(
    (error: TaskError) => error.failure.type,
  );
  return [made, given, await echo("goes on")];
});

const inLog = task({ name: "in_log", outputStorage: "inline" }, async (size: number, ctx) => {
  await did(ctx, `in log ${size}`);
  return textOf(size, 4);
});

export const keptInTheLog = workflow({ name: "kept_in_the_log" }, async () => {
  const text = await inLog(400 * KIB);
  await sleep(20);
  await echo("behind");
  return text === textOf(400 * KIB, 4);
});

export const manyThings = workflow({ name: "many_things" }, async () => {
  const rows = await echo(Array.from({ length: 4_000 }, (_, i) => ({ id: i, name: `row ${i}` })));
  await sleep(20);
  return [rows.length, rows.at(-1)];
});

const sized = [
  ...[INLINE - 3, INLINE - 2, INLINE - 1, INLINE, INLINE + 1],
  ...[1_024 * KIB, 5 * 1_024 * KIB],
].map((size) => [
  `byte_for_byte ${size}`,
  {
    workflow: "byte_for_byte",
    sees: `a text of ${size} bytes is the same, byte for byte, for workflow and tasks`,
    input: size,
    output: [size, true, true],
    did: [`makes ${size}`, `measures ${size}`],
  },
]);

const outputs = [INLINE - 2, INLINE - 1, 2 * 1_024 * KIB].map((size) => [
  `large_output ${size}`,
  {
    workflow: "large_output",
    sees: `an output of ${size} bytes is what whoever started the workflow gets`,
    input: size,
    output: textOf(size, 3),
  },
]);

const inputs = [INLINE - 2, INLINE, 1_024 * KIB, 4 * 1_024 * KIB].map((size) => [
  `large_input ${size}`,
  {
    workflow: "large_input",
    sees: `an input of ${size} bytes is what the workflow gets`,
    input: textOf(size, 2),
    output: [size, true],
  },
]);

const buffers = [10, 190 * KIB, 1_024 * KIB].map((size) => [
  `large_bytes ${size}`,
  {
    workflow: "large_bytes",
    sees: `${size} bytes are the same, one by one, for workflow and tasks`,
    input: size,
    output: [true, size, true],
    did: [`bytes ${size}`, `sums ${size}`],
  },
]);

export const sizes: Programs = {
  ...Object.fromEntries([...sized, ...outputs, ...inputs, ...buffers]),
  many_large: {
    sees: "large values at once come each to their own caller",
    output: true,
  },
  large_through_a_child: {
    sees: "large values go to a child and come back as they are",
    output: true,
  },
  large_letter: {
    sees: "large signals and answers arrive as they are",
    drive: async (outside) => {
      await outside.signal("letter", textOf(600 * KIB, 5));
      await outside.untilWaits("pause", "ask");
      await outside.resume(textOf(600 * KIB, 5));
    },
    output: [true, true],
  },
  too_large: {
    sees: "what is larger than the largest value is refused, and can be caught",
    output: ["ValueTooLargeError", "ValueTooLargeError", "goes on"],
  },
  kept_in_the_log: {
    sees: "a large value that is to lie in the log is the same as any other",
    output: true,
    did: [`in log ${400 * KIB}`, "echo behind"],
  },
  many_things: {
    sees: "a list of thousands of records comes back whole",
    output: [4_000, { id: 3_999, name: "row 3999" }],
  },
};
