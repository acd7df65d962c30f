import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { guardedHost } from "../../testing/guarded-host.ts";

const GAPS = / {2,}/g;
const SECRET = "correct horse battery staple";

const cells = (out: string) => out.split("\n").map((line) => line.replace(GAPS, " | "));

test("SEC-4 AUTH-60 a secret is set from a prompt, standard input or a file, and nowhere else is its value", async () => {
  const { engine, cwd, client } = await guardedHost();
  const set = ["secrets", "set"];
  const said: string[] = [];
  const ran = async (...[args, typed]: Parameters<typeof engine>) => {
    const answer = await engine(args, typed);
    said.push(answer.out + answer.err);
    return answer;
  };
  const asked: string[] = [];
  const askHidden = async (question: string) => {
    asked.push(question);
    return SECRET;
  };
  const described = ["--description", "of the shop"];
  const made = await ran([...set, "db", ...described], { askHidden });
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(made.out).toMatch(/^db\n {2}about +of the shop\n {2}version +1\n/);
  expect(asked).toEqual(["value (not shown as you type): "]);
  expect((await ran([...set, "db", "--stdin"], { askHidden, stdin: `${SECRET} 2\n` })).out).toMatch(
    / {2}version +2\n/,
  );
  writeFileSync(join(cwd, "tls.pem"), `-----BEGIN KEY-----\n${SECRET}\n-----END KEY-----\n`);
  expect((await ran([...set, "tls", "--from-file", "tls.pem"])).code).toBe(0);
  const json = JSON.stringify({ user: "engine", password: SECRET });
  expect((await ran([...set, "login", "--json"], { stdin: json })).out).toMatch(
    /masked +1 value\n/,
  );
  const listed = await ran(["secrets", "list"]);
  expect(cells(listed.out)).toEqual([
    "SECRET | VERSION | MASKED | KEY | CHANGED | BY | ABOUT",
    expect.stringMatching(/^db \| 2 \| 1 value \| [0-9a-f]{8} \| .* \| admin \| of the shop$/),
    expect.stringMatching(/^login \| 1 \| 1 value \|/),
    expect.stringMatching(/^tls \| 1 \| 1 value \|/),
    "",
  ]);
  const page = JSON.parse((await ran(["secrets", "list", "--format", "json"])).out);
  expect(page).toMatchObject({ total: 3, auth_filtered: false });
  expect(said.join("")).not.toContain("horse");

  const kept = async (name: string) => (await client.secrets.get({ params: { name } })).value;
  expect(await kept("db")).toBe(`${SECRET} 2`);
  expect(await kept("login")).toEqual({ user: "engine", password: SECRET });
  expect(await kept("tls")).toBe(`-----BEGIN KEY-----\n${SECRET}\n-----END KEY-----`);
});

test("SEC-4 SEC-5 what cannot be kept as a secret is refused without its value", async () => {
  const { engine, cwd } = await guardedHost();
  writeFileSync(join(cwd, "binary"), Buffer.from([0xff, 0xfe, 0x68, 0x6f, 0x72, 0x73, 0x65]));
  const refused: [string[], number, RegExp, string?][] = [
    [["horses"], 2, /a secret value is never an argument, .* --from-file FILE or --stdin/],
    [["--json"], 2, /the value is not JSON; without --json/, "horses"],
    [["--stdin", "--from-file", "binary"], 2, /either from standard input or from a file/],
    [["--from-file", "binary"], 2, /no text in UTF-8: .* base64/],
    [["--from-file", "gone"], 2, /gone: the file cannot be read \(ENOENT\)/],
    [[], 2, /no value came on standard input/],
    [["--json"], 1, /^error: value: must not be null/, "null"],
    [[], 1, /no text of 8 characters .*or pass --unmasked to keep it/, "horses"],
    [["--if-version", "3"], 1, /secret db does not exist/, "horses and carts"],
  ];
  for (const [args, code, message, stdin = ""] of refused) {
    const ran = await engine(["secrets", "set", "db", ...args], { stdin });
    expect(ran, args.join(" ")).toMatchObject({ code, out: "" });
    expect(ran.err).toMatch(message);
    expect(ran.err).not.toContain("horses");
  }
  const bad = await engine(["secrets", "set", "bad!"], { stdin: SECRET });
  expect(bad.err).toMatch(/^error: name: must be a name/);
  const short = await engine(["secrets", "set", "db", "--unmasked"], { stdin: "horses" });
  expect(short.out).toMatch(/masked +not masked\n/);
  expect(
    (await engine(["secrets", "set", "db", "--if-version", "0"], { stdin: SECRET })).code,
  ).toBe(1);
  expect(
    (await engine(["secrets", "set", "db", "--if-version", "1"], { stdin: SECRET })).code,
  ).toBe(0);
});

test("SEC-4 AUTH-60 a secret is printed alone, and at a terminal only after a question", async () => {
  const { engine, client } = await guardedHost();
  await client.secrets.put({ params: { name: "db" }, body: { value: SECRET } });
  await client.secrets.put({ params: { name: "login" }, body: { value: { password: SECRET } } });
  const get = ["secrets", "get", "db"];
  expect(await engine(get)).toEqual({ code: 0, out: `${SECRET}\n`, err: "" });
  expect(JSON.parse((await engine(["secrets", "get", "login"])).out)).toEqual({ password: SECRET });
  const whole = await engine([...get, "--format", "json"], { columns: 80 });
  expect(JSON.parse(whole.out)).toMatchObject({ name: "db", value: SECRET, version: 1 });
  const asked: string[] = [];
  const answer = (is: boolean | undefined) => ({
    columns: 80,
    confirm: async (question: string) => {
      asked.push(question);
      return is;
    },
  });
  expect(await engine(get, answer(false))).toEqual({
    code: 1,
    out: "",
    err: "Nothing was shown.\n",
  });
  expect((await engine(get, answer(true))).out).toBe(`${SECRET}\n`);
  expect(asked[0]).toBe("Whoever looks at this terminal sees secret db.\nShow it?");
  expect(await engine(get, answer(undefined))).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("Add --yes"),
  });
  expect((await engine([...get, "--yes"], answer(undefined))).out).toBe(`${SECRET}\n`);
  // Only what was shown is in the log.
  const read = await client.audit.list({ query: { action: "secrets.get" } });
  expect(read.total).toBe(5);
});

test("AUTH-60 a secret that a terminal would not show as it is comes with a note", async () => {
  const { engine, client } = await guardedHost();
  const value = "\u001b[31mhorses\u001b[39m";
  await client.secrets.put({ params: { name: "db" }, body: { value, unmasked: true } });
  expect(await engine(["secrets", "get", "db"])).toMatchObject({
    out: "\\u001b[31mhorses\\u001b[39m\n",
    err: expect.stringMatching(/^note: .*--format json\n$/),
  });
  const whole = await engine(["secrets", "get", "db", "--format", "json"]);
  expect(JSON.parse(whole.out).value).toBe(value);
});

test("SEC-4 AUTH-60 a secret is removed after a question", async () => {
  const { engine, client, account } = await guardedHost();
  expect((await engine(["secrets", "list"])).out).toMatch(
    /^No secrets yet\. .*secrets set <name>\n/,
  );
  await client.secrets.put({ params: { name: "db" }, body: { value: SECRET } });
  const remove = ["secrets", "remove", "db"];
  expect(await engine(remove)).toMatchObject({
    code: 2,
    err: expect.stringContaining("Add --yes"),
  });
  expect((await engine(remove, { confirm: async () => false })).err).toBe("Nothing was deleted.\n");
  const token = await account("ada", ["secret:other:use"]);
  expect((await engine(["secrets", "list"], { token })).out).toBe(
    "There is no secret that you may use, read or change.\n",
  );
  expect((await engine([...remove, "--yes"], { token })).err).toContain("secret:db:manage");
  expect((await engine(remove, { confirm: async () => true })).out).toBe("Deleted secret db.\n");
  expect(await engine([...remove, "--yes"])).toMatchObject({
    code: 1,
    err: "error: no secret db; see all of them with: npx engine secrets list\n",
  });
});

const key = (n: number) => Buffer.alloc(32, n).toString("base64");

test("SEC-3 AUTH-60 rotate-keys seals everything with the primary key and waits until that is done", async () => {
  const first = await guardedHost({ encryption: { keys: { old: key(1) }, primary: "old" } });
  for (const name of ["a", "b", "c"]) {
    await first.client.secrets.put({ params: { name }, body: { value: SECRET } });
  }
  expect(cells((await first.engine(["secrets", "keys"])).out)[1]).toMatch(/^old \| 3 data keys \|/);
  await first.close();
  const keys = { old: key(1), new: key(2) };
  const { engine } = await guardedHost({
    cwd: first.cwd,
    encryption: { keys, primary: "new" },
  });
  expect(cells((await engine(["secrets", "keys"])).out)).toEqual([
    "KEY | SEALS",
    "new | 0 data keys | primary: what is written now is sealed with it",
    "old | 3 data keys",
    "",
  ]);
  const rotated = await engine(["secrets", "rotate-keys"]);
  expect(rotated).toMatchObject({ code: 0, err: "3 data keys left\n" });
  expect(cells(rotated.out).slice(1)).toEqual([
    expect.stringMatching(/^new \| 3 data keys \| primary/),
    "old | 0 data keys",
    "",
  ]);
  expect((await engine(["secrets", "get", "a"])).out).toBe(`${SECRET}\n`);
  const again = await engine(["secrets", "rotate-keys", "--format", "json"]);
  expect(again).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(again.out)).toMatchObject({ primary: "new", rotating: false });
});

/** A server whose rotation goes on like this. */
async function rotation(left: readonly number[]) {
  let asked = 0;
  const web = createServer((request, reply) => {
    request.resume();
    const rows = left[Math.min(asked, left.length - 1)] ?? 0;
    const keys = [
      { id: "new", rows: 0 },
      { id: "old", rows },
    ];
    const status = { primary: "new", keys, rotating: asked < left.length - 1 };
    asked++;
    reply.statusCode = request.method === "POST" ? 202 : 200;
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify(status));
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void web.close());
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
}

test("SEC-3 rotate-keys tells how much is left, and fails where some does not open", async () => {
  const url = await rotation([412, 412, 200, 2]);
  const io = capturedIo();
  expect(await runCli(["secrets", "rotate-keys", "--server-url", url], io)).toBe(1);
  expect(io.complained()).toBe(
    "412 data keys left\n200 data keys left\nerror: 2 data keys could not be sealed anew: the log of the server says why\n",
  );
});

test("SEC-3 Ctrl-C during rotate-keys leaves the server at it, and says so", async () => {
  const url = await rotation([5, 5, 5, 5, 5, 5, 5, 5, 5, 0]);
  const io = capturedIo({
    stopSignals: () => ({ first: Promise.resolve(), second: new Promise(() => {}) }),
  });
  expect(await runCli(["secrets", "rotate-keys", "--server-url", url], io)).toBe(1);
  expect(io.complained()).toMatch(/note: the server goes on with it; .*secrets keys --server-url/);
  expect(io.printed()).toBe("");
});
