import { expect, test } from "vitest";
import { missingLine, pageSteps } from "./page-steps.ts";

test("a page's fences are files, commands, commands that go on, and what is printed", () => {
  const page = `# Page
\`\`\`json file="tsconfig.json"
{}
\`\`\`
In between.
\`\`\`sh
npm init -y
\`\`\`
\`\`\`sh terminal="server"
npx engine dev
\`\`\`
\`\`\`text
engine is running
\`\`\`
`;
  expect(pageSteps(page)).toEqual([
    { kind: "file", path: "tsconfig.json", text: "{}\n" },
    { kind: "commands", text: "npm init -y\n" },
    { kind: "commands", text: "npx engine dev\n", terminal: "server" },
    { kind: "output", text: "engine is running\n" },
  ]);
});

test("a fence that nobody would run is an error, so that no code of the page goes unproved", () => {
  expect(() => pageSteps("```ts\nconst a = 1;\n```\n")).toThrow(/fence of ts says neither/);
});

test.each([
  ["all lines in their order", "a\nc\n", "a\nb\nc\n", undefined],
  [
    "what differs from time to time",
    "id   …\nserver http://…:8000\n",
    "id   17\nserver http://x:8000\n",
    undefined,
  ],
  ["a line of dots alone stands for any number of lines", "a\n…\nd\n", "a\nb\nc\nd", undefined],
  ["spaces at the end of a line do not count", "a\n", "a   \n", undefined],
  ["a line that is missing", "a\nz\n", "a\nb\n", "z"],
  ["lines in another order", "b\na\n", "a\nb\n", "a"],
  ["a line is meant whole", "reserved\n", "reserved o1\n", "reserved"],
  ["signs are signs", "a.c\n", "abc\n", "a.c"],
])("%s", (_, expected, printed, missing) => {
  expect(missingLine(expected, printed)).toBe(missing);
});
