import { expect, test } from "vitest";
import { syncSnippets } from "./snippets.ts";

const page = `Before.

\`\`\`ts source="../hello.ts#greet"
old
\`\`\`

\`\`\`ts
untouched
\`\`\`
`;
const source = `export function hello() {
  //#region greet
  if (true) {
    greet("World");
  }

  return;
  //#endregion
}
`;

test("a fence that names a region holds that region, outdented, and nothing else changes", () => {
  const read: string[] = [];
  const synced = syncSnippets(page, (path) => {
    read.push(path);
    return source;
  });
  expect(read).toEqual(["../hello.ts"]);
  expect(synced).toBe(page.replace("old", 'if (true) {\n  greet("World");\n}\n\nreturn;'));
  expect(syncSnippets(synced, () => source)).toBe(synced);
});

test("a page that names a region its source does not have says so", () => {
  const message = '../hello.ts has no line "//#region greet"';
  expect(() => syncSnippets(page, () => "")).toThrow(message);
  expect(() => syncSnippets(page, () => "//#region greet\ncode\n")).toThrow("//#endregion");
});
