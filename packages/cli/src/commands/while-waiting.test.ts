import { expect, test } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import { whileWaiting } from "./while-waiting.ts";

const SEE_IT = "npx engine execution list";

function terminal() {
  const io = capturedIo();
  return { ...io, err: { ...io.err, isTTY: true } };
}

test("at a terminal an answer that takes long is waited for with words, and comes all the same", async () => {
  const io = terminal();
  const answer = Promise.withResolvers<string>();
  const said = Promise.withResolvers<string>();
  const err = { ...io.err, write: said.resolve };
  const waited = whileWaiting({ ...io, err }, answer.promise, { seeIt: SEE_IT, afterMs: 0 });
  expect(await said.promise).toMatch(/^note: waiting .* Ctrl-C .*npx engine execution list\n$/);
  answer.resolve("ended");
  expect(await waited).toBe("ended");
});

test("an answer that comes at once is waited for without a word", async () => {
  const io = terminal();
  expect(await whileWaiting(io, Promise.resolve("ended"), { seeIt: SEE_IT })).toBe("ended");
  expect(io.complained()).toBe("");
});

test("what reads a pipe is told nothing but the answer", async () => {
  const io = capturedIo();
  const answer = new Promise((resolve) => setTimeout(resolve, 5, "ended"));
  expect(await whileWaiting(io, answer, { seeIt: SEE_IT, afterMs: 0 })).toBe("ended");
  expect(io.complained()).toBe("");
});
