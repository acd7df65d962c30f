import { writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { type StartedDev, startDevIn } from "../started-dev.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// A server and a worker start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const hello = (says: string) => `
import { workflow } from "@engine/sdk";
export const helloWorld = workflow({ name: "hello_world" }, async () => "${says}");
`;

/** A folder with two examples and a file of its user, in which `engine dev` starts again and again. */
function restarts() {
  const folder = temporaryFolder({
    "examples/hello.ts": hello("an example"),
    "examples/other.ts": hello("another").replace("hello_world", "other"),
    "mine/hello.ts": hello("mine"),
  });
  return {
    start: (args = ["examples", "--yield"], watch = false) =>
      startDevIn(folder.path, { args, watch }),
    write: (file: string, text: string) => writeFileSync(`${folder.path}/${file}`, text),
    [Symbol.dispose]: () => folder.remove(),
  };
}

async function said({ engine }: StartedDev, name = "hello_world"): Promise<unknown> {
  const ran = await engine("workflow", "run", name, "--mode", "sync", "--format", "json");
  return (JSON.parse(ran.out) as { output: unknown }).output;
}

test("an example never displaces what its user registered, at no restart, whether it changes or not", async () => {
  using folder = restarts();
  {
    await using dev = await folder.start();
    expect(await said(dev)).toBe("an example");
    await dev.engine("workflow", "register", "mine/hello.ts");
    expect(await said(dev)).toBe("mine");
  }
  for (const example of ["an example", "a newer example", "the newest"]) {
    folder.write("examples/hello.ts", hello(example));
    await using dev = await folder.start();
    expect(dev.io.printed()).toContain(
      "\nhello_world stays at version 2, which is not of examples/hello.ts: for that save the file, or npx engine workflow register examples/hello.ts\n",
    );
    expect(dev.io.printed()).toMatch(/^other +1 +unchanged/m);
    expect(await said(dev)).toBe("mine");
  }
});

test("nor does an example take a name that its user had before the first start", async () => {
  using folder = restarts();
  {
    await using dev = await folder.start(["mine"]);
    expect(await said(dev)).toBe("mine");
  }
  await using dev = await folder.start();
  expect(await said(dev)).toBe("mine");
  expect(await said(dev, "other")).toBe("another");
});

test("an example that nobody displaced follows its file, from start to start", async () => {
  using folder = restarts();
  {
    await using dev = await folder.start();
    expect(await said(dev)).toBe("an example");
  }
  for (const example of ["a newer example", "an example"]) {
    folder.write("examples/hello.ts", hello(example));
    await using dev = await folder.start();
    expect(await said(dev)).toBe(example);
  }
});

test("what is saved while it runs is registered, and is its own from then on", async () => {
  using folder = restarts();
  {
    await using dev = await folder.start(["mine"]);
    expect(await said(dev)).toBe("mine");
  }
  {
    await using dev = await folder.start(["examples", "--yield"], true);
    expect(await said(dev)).toBe("mine");
    folder.write("examples/hello.ts", hello("saved"));
    await dev.untilPrinted(/hello_world +new version 2/);
    expect(await said(dev)).toBe("saved");
  }
  folder.write("examples/hello.ts", hello("saved later"));
  await using dev = await folder.start();
  expect(await said(dev)).toBe("saved later");
});
