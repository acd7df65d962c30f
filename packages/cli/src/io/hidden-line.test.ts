import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { UsageError } from "./cli-error.ts";
import { hiddenLine } from "./hidden-line.ts";

/** What is typed at a terminal, and what it shows. */
function terminal() {
  const input = new PassThrough();
  const shown: string[] = [];
  const output = { write: (text: string) => void shown.push(text) };
  const line = hiddenLine({ input, output }, "token: ");
  return { line, type: (text: string) => void input.write(text), shown: () => shown.join("") };
}

test("AUTH-60 what is typed at a hidden prompt is taken, edited and not shown", async () => {
  const { line, type, shown } = terminal();
  type("engine_sk_wrong");
  type("\u007f".repeat(5));
  type("right\r");
  expect(await line).toBe("engine_sk_right");
  expect(shown()).toBe("token: \n");
});

test("AUTH-60 the terminal is told to show nothing before it is asked", async () => {
  const happened: string[] = [];
  const setRawMode = (isRaw: boolean) => void happened.push(isRaw ? "hides" : "shows");
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  const output = { write: (text: string) => void happened.push(text) };
  const line = hiddenLine({ input, output }, "token: ");
  input.write("abc\r");
  await line;
  expect(happened).toEqual(["hides", "token: ", "shows", "\n"]);
});

test("AUTH-60 a line that is pasted with its end is taken", async () => {
  const { line, type } = terminal();
  type("engine_sk_right\r\n\n");
  expect(await line).toBe("engine_sk_right");
});

test.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("AUTH-60 %s at a hidden prompt takes nothing", async (_, key) => {
  const { line, type } = terminal();
  type("half");
  if (key === "\u0004") type("\u007f".repeat(4));
  type(key);
  expect(await line).toBe("");
});

test.each([
  ["ended", "-----BEGIN KEY-----\nabc\n-----END KEY-----\n"],
  ["not ended", "first\nsecond"],
])(
  "AUTH-60 several lines at a hidden prompt, the last %s, are refused rather than cut",
  async (_, text) => {
    const { line, type, shown } = terminal();
    type(text);
    await expect(line).rejects.toThrow(UsageError);
    expect(shown()).toBe("token: \n");
  },
);
