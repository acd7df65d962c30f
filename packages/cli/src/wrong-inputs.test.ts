import { spawnSync } from "node:child_process";
import { createServer, type Server as WebServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { capturedIo } from "./io/captured-io.ts";
import { createProgram } from "./program.ts";
import { runCli } from "./run-cli.ts";
import { temporaryFolder } from "./temporary-folder.ts";

// A server starts here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const ID = "0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10";
const NAMES = /1 to 128 letters, digits/;
const NO_ID = /missing required argument 'id': an execution id, how it begins, or --last/;
const NO_EXECUTION = new RegExp(`no execution ${ID}; see all .*npx engine execution list`);
const NO_WORKFLOW = /no workflow default\/nobody; see all .*npx engine workflow list/;
const NO_SCHEDULE = /no schedule nobody; see all .*npx engine schedule list/;
const NO_HOOK = /no hook nobody; see all .*npx engine hook list/;
const NO_SERVICE = /no service nobody; see all .*npx engine service list/;
const NO_ROLE = /no role nobody; see all .*npx engine roles list/;
const NO_PRINCIPAL = /no principal nobody; see all .*npx engine principals list/;
const NO_WORKER = /no worker nobody; see all .*npx engine worker list/;
const KEY_VALUE = /--routing-input takes KEY=VALUE/;
const REF = /missing required argument 'ref': NAME \(namespace `default`\) or NAMESPACE\/NAME/;

/** A command line with something wrong, its exit code, and what its answer must name. */
type Wrong = readonly [args: string, code: 1 | 2, message: RegExp];

const WRONG: readonly Wrong[] = [
  ["frobnicate", 2, /unknown command 'frobnicate'/],
  ["executoin list", 2, /\(Did you mean execution\?\)/],
  ["workflow register", 2, /missing required argument 'paths': TypeScript files/],
  ["workflow run", 2, REF],
  ["workflow run hello --frob", 2, /unknown option '--frob'/],
  ["workflow run hello 5", 1, /INPUT: expected a string, got an integer/],
  ["workflow run nobody", 1, NO_WORKFLOW],
  ["workflow run hello @gone.json", 2, /INPUT @gone\.json: the file cannot be read \(ENOENT\)/],
  ["workflow run a b c", 2, /too many arguments .* Expected 2 arguments but got 3: a, b, c/],
  [
    "workflow run bad!name",
    2,
    /argument 'ref' is invalid: 'bad!name'\. Expected NAME or NAMESPACE/,
  ],
  ["workflow run hello x --timeout soon", 2, /--timeout .*'soon' is invalid\. Expected a number/],
  ["workflow run hello x --version 99", 1, /no version 99 of default\/hello/],
  ["workflow run hello x --mode later", 2, /Allowed choices are sync, async, stream/],
  ["workflow run hello x --priority 99", 2, /whole number from -10 to 10/],
  ["workflow run hello x --start-at tomorrow", 2, /an instant such as 2026-/],
  ["workflow run hello x --park-ttl -1", 2, /0 = for ever/],
  ["workflow run hello x --require-worker gpu!1", 2, NAMES],
  ["workflow run hello x -r gpu", 2, KEY_VALUE],
  ["workflow run hello x -r =gpu", 2, KEY_VALUE],
  ["workflow run hello x --routing-input a.b=gpu", 2, KEY_VALUE],
  [`workflow run hello x -r a=${"x".repeat(5_000)}`, 1, /must not be longer than 4096 bytes/],
  ["workflow resume hello", 2, NO_ID],
  [`workflow resume hello ${ID}`, 1, NO_EXECUTION],
  ["workflow status hello", 2, NO_ID],
  ["workflow status hello nope", 1, /no execution nope; see all/],
  [`workflow cancel hello ${ID}`, 1, NO_EXECUTION],
  ["workflow replay", 2, /name either a workflow or files with --history/],
  ["workflow replay nobody", 1, NO_WORKFLOW],
  ["workflow replay --history gone.json --file x.ts", 2, /gone\.json: the file cannot be read/],
  ["workflow list extra", 2, /Expected 0 arguments but got 1: extra/],
  ["workflow list --limit 0", 2, /whole number of at least 1/],
  ["workflow list -n bad!name", 1, /--namespace: must be a name: 1 to 128/],
  ["workflow namespaces --offset -1", 2, /whole number of at least 0/],
  ["workflow show", 2, REF],
  ["workflow show nobody", 1, NO_WORKFLOW],
  ["workflow show hello --version x", 2, /whole number of at least 1/],
  ["workflow versions nobody", 1, NO_WORKFLOW],
  ["workflow placement", 2, REF],
  ["workflow placement nobody", 1, NO_WORKFLOW],
  ["workflow placement hello --version x", 2, /whole number of at least 1/],
  ["workflow delete nobody", 1, NO_WORKFLOW],
  ["workflow delete hello", 2, /Add --yes to do so/],
  ["workflow types", 2, /required option '--out <file>' not specified/],
  ["execution list --state asleep", 2, /Expected one of created, claimed, running/],
  ["execution list --limit 999", 2, /whole number from 1 to 200/],
  ["execution list --created-after yesterday", 2, /an instant such as 2026-/],
  ["execution list --parent nope", 2, /Expected an execution id, or how it begins: 4 characters/],
  ["execution list --before nope", 2, /Expected an execution id, or how it begins: 4 characters/],
  ["execution list --namespace bad!name", 1, /--namespace: must be a name: 1 to 128/],
  ["execution list --workflow a/b/c", 2, /Expected NAME or NAMESPACE\/NAME/],
  ["execution show", 2, NO_ID],
  [`execution show ${ID}`, 1, NO_EXECUTION],
  ["execution show 0198c2f4", 1, /no execution id begins with 0198c2f4; see all/],
  ["execution show abc", 2, /"abc" is too short .* give 4 characters or more/],
  [`execution events ${ID} --type boom`, 2, /Expected one of workflow_created/],
  [`execution events ${ID}`, 1, NO_EXECUTION],
  ["why", 2, NO_ID],
  [`why ${ID}`, 1, NO_EXECUTION],
  ["execution watch", 2, NO_ID],
  [`execution watch ${ID}`, 1, NO_EXECUTION],
  [`execution rename ${ID}`, 2, /a name, or --clear to take its label away/],
  [`execution rename ${ID} x`, 1, NO_EXECUTION],
  [`execution signal ${ID}`, 2, /missing required argument 'name': the name of the signal/],
  [
    `execution signal ${ID} bad!name`,
    2,
    /argument 'name' is invalid: 'bad!name'\. Expected the name/,
  ],
  [`execution signal ${ID} word`, 1, NO_EXECUTION],
  ["execution resume", 2, NO_ID],
  [`execution resume ${ID} 1`, 1, NO_EXECUTION],
  ["execution cancel", 2, NO_ID],
  [`execution cancel ${ID} --reason`, 2, /'--reason <text>' argument missing/],
  [`execution fork ${ID} --from-seq 0`, 2, /whole number of at least 1/],
  [`execution fork ${ID}`, 1, NO_EXECUTION],
  [`execution fork ${ID} -r gpu`, 2, KEY_VALUE],
  [`execution restart ${ID} -r =gpu`, 2, KEY_VALUE],
  [`execution restart ${ID} --input @gone.json`, 2, /INPUT @gone\.json: the file cannot be read/],
  [`execution export ${ID}`, 1, NO_EXECUTION],
  ["execution take-over", 2, /required option '--run-as <subject>' not specified/],
  ["execution take-over --run-as bot", 2, /say which executions: the id of one, or --all/],
  [`execution take-over ${ID} --run-as bot --from ada`, 2, /--from belongs to --all/],
  [`execution take-over ${ID} --run-as bot`, 1, NO_EXECUTION],
  ["execution take-over --all --run-as bot", 2, /the rights of bot\. Add --yes to do so/],
  ["schedule create", 2, REF],
  ["schedule create hello", 2, /missing required argument 'name': name of the schedule/],
  ["schedule create hello s", 2, /say when it fires: one of --cron, --every and --at/],
  ["schedule create hello s --cron nonsense", 1, /error: --cron: .*write 5 \(minute, hour/],
  ["schedule create hello s --cron x --timezone Mars", 1, /--cron: .*\n {2}--timezone: .*IANA/],
  ["schedule create hello s --every 1h -r gpu", 2, KEY_VALUE],
  ["schedule trigger s -r gpu", 2, KEY_VALUE],
  ["schedule create hello s --every soon", 2, /at least a second, such as 30s, 15m/],
  ["schedule create hello s --at never", 1, /--at: must be an instant .* such as 2026-/],
  ["schedule create hello s --every 1h --timezone UTC", 2, /--timezone belongs to --cron/],
  ["schedule create nobody s --every 1h", 1, NO_WORKFLOW],
  ["schedule create hello bad!name --every 1h", 1, /name: must be 1 to 257 letters/],
  ["hook create", 2, /required option '--on <selector>' not specified/],
  ["hook create h --on execution:*", 2, /required option '--workflow <ref>' not specified/],
  [
    "hook create h --on execution:* --workflow hello",
    2,
    /required option '--principal <subject>' not specified/,
  ],
  [
    "hook create --on x --workflow hello --principal bot",
    2,
    /missing required argument 'name': 1 to 128 small letters/,
  ],
  [
    "hook create H! --on x --workflow hello --principal bot",
    2,
    /argument 'name' is invalid: 'H!'\. Expected 1 to 128 small letters/,
  ],
  ["hook create h --on x --workflow a/b/c", 2, /Expected NAME or NAMESPACE\/NAME/],
  ["hook create h --max-attempts 101", 2, /Expected a whole number from 1 to 100/],
  [
    "hook create h --on execution:a:b:FAILED --workflow hello --principal bot",
    1,
    /^error: selector "execution:a:b:FAILED" can never fire\n {2}did you mean failed\?\n$/,
  ],
  [
    "hook create h --on execution:* --workflow nobody --principal bot",
    1,
    /no workflow default\/nobody is registered, .*; see all .*npx engine workflow list/,
  ],
  [
    "hook create deliveries --on execution:* --workflow hello --principal bot",
    1,
    /^error: name: deliveries is reserved/,
  ],
  ["hook create h --on execution:* --workflow hello --principal a/b", 1, /^error: principal: must/],
  ["hook list extra", 2, /Expected 0 arguments but got 1: extra/],
  ["hook get", 2, /missing required argument 'name': name of the hook/],
  ["hook get nobody", 1, NO_HOOK],
  ["hook update nobody", 2, /say what to change, such as --disable/],
  ["hook update nobody --enable --disable", 2, /'--enable' cannot be used with .*'--disable'/],
  ["hook update nobody --disable", 1, NO_HOOK],
  ["hook delete nobody", 1, NO_HOOK],
  ["hook delete nobody --yes", 1, NO_HOOK],
  ["hook test nobody", 1, NO_HOOK],
  ["hook test nobody --value @gone.json", 2, /gone\.json: the file cannot be read \(ENOENT\)/],
  ["hook deliveries nobody", 1, NO_HOOK],
  ["hook deliveries nobody --limit 0", 2, /Expected a whole number from 1 to 200/],
  ["hook deliveries nobody --limit 201", 2, /Expected a whole number from 1 to 200/],
  ["hook deliveries nobody --status lost", 2, /Allowed choices are pending, delivered, dead/],
  ["hook delivery nobody", 2, /missing required argument 'delivery_id': id of the delivery/],
  ["hook delivery nobody x", 1, NO_HOOK],
  ["hook retry nobody", 2, /say which delivery: its id, or --all/],
  ["hook retry nobody x --all", 2, /say which delivery: its id, or --all/],
  ["hook retry nobody x --reason malformed", 2, /--reason belongs to --all/],
  ["hook retry nobody --all --reason bored", 2, /Allowed choices are malformed, hook_disabled/],
  ["hook retry nobody x", 1, NO_HOOK],
  ["hook retry nobody --all", 1, NO_HOOK],
  ["service create", 2, /missing required argument 'name': 1 to 64 small letters/],
  ["service create Shop", 2, /argument 'name' is invalid: 'Shop'\. Expected 1 to 64 small letters/],
  [
    "service create shop --namespace a/b",
    2,
    /--namespace .*'a\/b' is invalid\. Expected a namespace/,
  ],
  ["service create shop --workflow a/b/c", 2, /Expected NAME or NAMESPACE\/NAME/],
  ["service create shop --exclude a!b", 2, /Expected NAME or NAMESPACE\/NAME/],
  ["service add nobody", 2, /say what to add, such as --namespace shop/],
  ["service add nobody --workflow hello", 1, NO_SERVICE],
  ["service remove nobody", 2, /say what to remove, such as --namespace shop/],
  ["service remove nobody --namespace shop", 1, NO_SERVICE],
  ["service exclude nobody", 2, /missing required argument 'ref'/],
  ["service exclude nobody hello", 1, NO_SERVICE],
  ["service include nobody hello", 1, NO_SERVICE],
  ["service update nobody", 2, /say what to change, such as --mcp/],
  ["service update nobody --mcp --no-mcp", 2, /--mcp or --no-mcp, not both/],
  ["service update nobody --mcp", 1, NO_SERVICE],
  ["service list --limit 0", 2, /whole number of at least 1/],
  ["service show nobody", 1, NO_SERVICE],
  ["service tools", 2, /missing required argument 'name': name of the service/],
  ["service tools nobody", 1, NO_SERVICE],
  ["service delete nobody --yes", 1, NO_SERVICE],
  ["service start", 2, /missing required argument 'name': name of the service/],
  ["service start Shop", 2, /the name of a service is 1 to 64 small letters/],
  ["service start shop --port 70000", 2, /a port from 0 to 65535/],
  ["service start shop --mcp --no-mcp", 2, /--mcp or --no-mcp, not both/],
  [
    "service start shop --mcp-issuer nowhere",
    2,
    /^error: --mcp-issuer: expected an absolute URL$/m,
  ],
  [
    "service start shop --mcp-base-url /mcp",
    2,
    /^error: --mcp-base-url: expected an absolute URL/m,
  ],
  ["service start shop --mcp-max-sessions 0", 2, /whole number of at least 1/],
  ["service start shop --mcp-session-ttl 0", 2, /a number of seconds above 0/],
  ["schedule list --status asleep", 2, /Allowed choices are active, paused/],
  ["schedule show nobody", 1, NO_SCHEDULE],
  ["schedule update nobody", 2, /say what to change, such as --every 1h/],
  ["schedule update nobody --every 1h", 1, NO_SCHEDULE],
  ["schedule pause nobody", 1, NO_SCHEDULE],
  ["schedule resume nobody", 1, NO_SCHEDULE],
  ["schedule trigger nobody", 1, NO_SCHEDULE],
  ["schedule history nobody", 1, NO_SCHEDULE],
  ["schedule delete nobody", 1, NO_SCHEDULE],
  ["worker list --label x", 2, /Expected KEY=VALUE/],
  ["worker list --status busy", 2, /Allowed choices are offline/],
  ["worker show", 2, /missing required argument 'name': name of the worker/],
  ["worker show nobody", 1, NO_WORKER],
  ["worker pause nobody", 1, NO_WORKER],
  ["worker resume nobody", 1, NO_WORKER],
  ["worker drain nobody", 1, NO_WORKER],
  ["worker drain nobody --timeout x", 2, /a number of seconds; 0 = at once/],
  ["worker delete nobody", 1, NO_WORKER],
  ["limit list --limit 0", 2, /whole number from 1 to 500/],
  ["limit set openai", 2, /say --concurrency N, --rate N\/PERIOD or both/],
  ["limit set openai --concurrency -1", 2, /Expected a whole number from 0 to 100000/],
  ["limit set openai --rate 5", 2, /Expected N\/PERIOD, such as 100\/1m/],
  ["limit set a/b --concurrency 1", 1, /error: /],
  ["limit show nothing", 1, /no limit nothing/],
  ["limit delete nothing --yes", 1, /no limit nothing/],
  ["worker metadata set gpu-1", 2, /missing required argument 'pairs': what to set, as KEY=VALUE/],
  ["worker metadata set nobody tier", 2, /expected KEY=VALUE, got "tier"/],
  ["worker metadata set nobody =gold", 2, /expected KEY=VALUE, got "=gold"/],
  ["worker metadata set nobody a=1 a=2", 2, /a is given twice; give each key once/],
  ["worker metadata set nobody a.=1", 1, /error: metadata\.a\.: key must be letters/],
  ["worker metadata set nobody tier=gold", 1, NO_WORKER],
  ["worker metadata show nobody", 1, NO_WORKER],
  ["worker metadata unset nobody", 2, /missing required argument 'keys': keys to remove/],
  ["worker metadata unset nobody tier", 1, NO_WORKER],
  ["worker metadata clear nobody", 1, NO_WORKER],
  ["worker service grant nobody", 2, /missing required argument 'service'/],
  ["worker service grant nobody Big", 1, /error: a service name is 1 to 32 characters/],
  ["worker service grant nobody inference", 1, NO_WORKER],
  ["worker service revoke nobody inference", 1, NO_WORKER],
  ["worker service list nobody", 1, NO_WORKER],
  ["health --server-url localhost:8000", 2, /Expected an address such as http:\/\//],
  ["health --format xml", 2, /Allowed choices are simple, json/],
  ["start server --port 99999", 2, /a port from 0 to 65535/],
  ["start server --database-url mysql://x", 1, /sqlite:<path> or postgres:\/\/…, got .* mysql:/],
  [
    "start server --host not.a.host.invalid",
    1,
    /a host that is not known; choose another with --host/,
  ],
  ["start worker bad!name", 2, NAMES],
  ["start worker --label x", 2, /Expected KEY=VALUE/],
  ["start worker --runner rocket", 2, /one of thread, process, inline/],
  ["start worker --dispatch pigeon", 2, /one of event, poll/],
  [
    "start worker engine_jt_abc_def",
    2,
    /a token is never an argument: .*ENGINE_WORKERS__JOIN_TOKEN/,
  ],
  ["auth login engine_sk_abc_def", 2, /a key is never an argument, .*: it is asked for/],
  ["auth login --api-key", 2, /no API key came on standard input/],
  ["auth login --stdin", 2, /--stdin belongs to --api-key/],
  ["auth logout here", 2, /Expected 0 arguments but got 1/],
  ["auth status --format xml", 2, /Allowed choices are simple, json/],
  ["auth whoami --server-url localhost:8000", 2, /Expected an address such as http:\/\//],
  ["auth check", 2, /missing required argument 'permission'/],
  ["auth permissions --workflow a/b/c", 2, /Expected NAME or NAMESPACE\/NAME/],
  ["auth permissions --workflow nobody", 1, NO_WORKFLOW],
  ["auth test-token", 2, /no token came on standard input/],
  ["auth test-token abc", 2, /a token is never an argument/],
  ["roles list --limit 0", 2, /whole number of at least 1/],
  ["roles show", 2, /missing required argument 'name': name of the role/],
  ["roles show nobody", 1, NO_ROLE],
  ["roles create r", 2, /required option '--permission <permission>' not specified/],
  ["roles create r --permission a::b", 2, /1 to 12 words joined by ':', .*workflow:shop:\*:read/],
  ["roles create Bad! --permission a", 1, /name: must be 1 to 64 small letters, digits/],
  ["roles clone viewer", 2, /required option '--new-name <name>' not specified/],
  ["roles clone nobody --new-name r", 1, NO_ROLE],
  ["roles update nobody", 2, /say what to change, such as --add workflow:shop/],
  ["roles update nobody --add a", 1, NO_ROLE],
  ["roles delete nobody", 1, NO_ROLE],
  ["principals list --type robot", 2, /Allowed choices are user, service_account, worker/],
  ["principals show", 2, /missing required argument 'subject': subject of a service account/],
  ["principals show nobody", 1, NO_PRINCIPAL],
  ["principals create bot", 2, /required option '--type <type>' not specified/],
  ["principals create bot --type worker", 2, /Allowed choices are user, service_account/],
  ["principals create bot! --type service_account", 1, /subject: of a service account must be/],
  ["principals create bot --type service_account --role nope", 1, /no role nope; see all .*roles/],
  ["principals update nobody", 2, /required option '--display-name <name>' not specified/],
  ["principals update nobody --display-name x", 1, NO_PRINCIPAL],
  ["principals grant nobody", 2, /required option '--role <role>' not specified/],
  ["principals grant nobody --role viewer", 1, NO_PRINCIPAL],
  ["principals revoke nobody --role viewer", 1, NO_PRINCIPAL],
  ["principals enable nobody", 1, NO_PRINCIPAL],
  ["principals disable nobody", 1, NO_PRINCIPAL],
  ["principals ban nobody", 1, NO_PRINCIPAL],
  ["principals unban nobody", 1, NO_PRINCIPAL],
  ["principals delete nobody", 1, NO_PRINCIPAL],
  ["principals create-key nobody", 2, /required option '--key-name <name>' not specified/],
  ["principals create-key nobody --key-name k", 1, NO_PRINCIPAL],
  ["principals create-key nobody --key-name k --expires soon", 2, /days from 1d to .* as 90d/],
  ["principals create-key nobody --key-name k --expires 36h", 2, /days from 1d to .* as 90d/],
  ["principals list-keys nobody", 1, NO_PRINCIPAL],
  ["principals revoke-key nobody --key-name k", 1, NO_PRINCIPAL],
  ["server bootstrap-token", 1, /there is no bootstrap token here: .* --rotate/],
  ["secrets list --limit 0", 2, /whole number of at least 1/],
  ["secrets set", 2, /missing required argument 'name': name of the secret/],
  ["secrets set db", 2, /no value came on standard input/],
  ["secrets set db abc", 2, /a secret value is never an argument, .* --from-file FILE/],
  ["secrets set db --stdin --from-file x", 2, /either from standard input or from a file/],
  ["secrets get nobody", 1, /no secret nobody; see all .*npx engine secrets list/],
  ["secrets remove nobody", 2, /Add --yes to do so/],
  ["secrets remove nobody --yes", 1, /no secret nobody; see all .*npx engine secrets list/],
  ["secrets keys extra", 2, /Expected 0 arguments but got 1: extra/],
  ["secrets rotate-keys extra", 2, /Expected 0 arguments but got 1: extra/],
  ["config list --limit 0", 2, /whole number of at least 1/],
  ["config set url", 2, /missing required argument 'value': JSON if it parses as JSON, else text/],
  ["config set url @gone.json", 2, /gone\.json: the file cannot be read \(ENOENT\)/],
  ["config set bad! x", 1, /error: name: must be a name: 1 to 128/],
  ["config get nobody", 1, /no config nobody; see all .*npx engine config list/],
  ["config remove nobody", 2, /Add --yes to do so/],
  ["config remove nobody --yes", 1, /no config nobody; see all .*npx engine config list/],
  ["server admin-key", 1, /there is no admin key in .*admin-key: .* --rotate/],
  ["server admin-key abc", 2, /a key is never an argument/],
  ["server audit --since yesterday", 2, /an instant such as 2026-.* how long ago, such as 24h/],
  ["server audit --decision maybe", 2, /Allowed choices are allow, deny/],
  ["server audit --limit 0", 2, /whole number of at least 1/],
  ["server join-token --ttl 5", 2, /--ttl: /],
  ["server join-tokens extra", 2, /Expected 0 arguments but got 1/],
  ["server revoke-join-token abc", 2, /a token is never an argument, .*: name it by --id/],
  ["server revoke-join-token", 2, /name what to revoke: --id <id>, or --subject <name>/],
  ["db upgrade --database-url nonsense", 1, /sqlite:<path> or postgres:\/\/…, got .* scheme/],
  ["db current --format xml", 2, /Allowed choices are simple, json/],
  ["db history extra", 2, /Expected 0 arguments but got 1: extra/],
  ["exec", 2, /missing required argument 'workflow_file': TypeScript file/],
  ["exec gone.ts", 2, /missing required argument 'workflow_name': NAME or NAMESPACE\/NAME/],
  ["exec gone.ts hello", 1, /gone\.ts does not exist \(looked for .*gone\.ts\)/],
  ["dev gone", 2, /gone does not exist \(looked for/],
  ["dev --port x", 2, /a port from 0 to 65535/],
  ["completion", 2, /missing required argument 'shell'/],
  ["completion tcsh", 2, /argument 'shell' is invalid: 'tcsh'\. Allowed choices are zsh, bash/],
];

let url = "";
let cwd = "";
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  const source = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (name: string) => name);
`;
  await server.engine.catalog.register({ source }, { by: null });
  const folder = temporaryFolder({ "empty.json": "", "hello.ts": source });
  ({ url } = server);
  cwd = folder.path;
  closing.push(
    () => server.close(),
    () => store.close(),
    () => folder.remove(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

async function engine(args: readonly string[], server = url) {
  const io = capturedIo({
    cwd,
    env: { ENGINE_SERVER_URL: server, ENGINE_HOME: `${cwd}/home` },
    now: Date.now,
  });
  const code = await runCli(args, io);
  return { code, out: io.printed(), err: io.complained() };
}

test.each<Wrong>(WRONG)(
  "EXE-95 `engine %s` is answered with exit code %i and what was expected",
  async (line, code, message) => {
    const ran = await engine(line.split(" "));
    expect(ran.err).toMatch(message);
    expect(ran.err).toMatch(/^error: /);
    expect(ran.err).not.toMatch(/undefined|\[object|\n\s+at /);
    expect(ran).toMatchObject({ code, out: "" });
  },
);

test("every command was tried with a wrong input", () => {
  const missed = leaves(createProgram(capturedIo())).filter(
    (path) => !WRONG.some(([line]) => line.startsWith(path)),
  );
  expect(missed.filter((path) => path !== "complete" && path !== "help")).toEqual([]);
});

test.each([
  ["standard input", "-"],
  ["@empty.json", "@empty.json"],
])("an INPUT from %s that is empty is told of, since nobody means that", async (what, input) => {
  const ran = await engine(["workflow", "run", "hello", input]);
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.err).toMatch(`note: ${what} is empty, so INPUT is the empty text\n`);
});

test("an INPUT that only looks like JSON is told of", async () => {
  const ran = await engine(["workflow", "run", "hello", '{"a":1']);
  expect(ran.err).toMatch(/^note: INPUT is sent as text, because it is not JSON: /);
});

const CALLS = [
  "health",
  "workflow list",
  "workflow run hello x",
  "execution list",
  `execution show ${ID}`,
  "execution show --last",
  `execution watch ${ID}`,
  `why ${ID}`,
  `execution cancel ${ID}`,
  `execution resume ${ID}`,
  "schedule list",
  "hook list",
  "service list",
  "worker list",
].map((line) => line.split(" "));

test("EXE-95 where no server runs, every command says so, and how to start one or name another", async () => {
  const gone = await listening(createServer());
  await new Promise((resolve) => gone.web.close(resolve));
  for (const args of CALLS) {
    const ran = await engine(args, gone.url);
    expect(ran, args.join(" ")).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toMatch(
      /^error: no answer from http:\/\/127\.0\.0\.1:\d+ \(.*\); start an engine with `npx engine dev`, or name another with --server-url\n$/,
    );
  }
});

test.each([200, 404, 502])(
  "EXE-95 an address where something else answers %i is told with what it said",
  async (status) => {
    const other = await listening(
      createServer((_request, reply) => {
        reply.writeHead(status, { "content-type": "text/html" }).end("<html>shop</html>");
      }),
    );
    for (const args of CALLS) {
      const ran = await engine(args, other.url);
      expect(ran, args.join(" ")).toMatchObject({ code: 1, out: "" });
      expect(ran.err).toMatch(/not as the engine does|is no stream/);
      expect(ran.err).not.toContain("see all of them");
    }
    other.web.close();
  },
);

test("EXE-95 an address below the engine's own is told to be checked", async () => {
  for (const args of CALLS) {
    const ran = await engine(args, `${url}/api`);
    expect(ran, args.join(" ")).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain(`check the address ${url}/api`);
  }
});

const BIN = fileURLToPath(new URL("../bin/engine.js", import.meta.url));

test.runIf(process.platform === "linux").each([
  ["dev .", 1],
  ["start server", 1],
  ["start worker", 2],
  ["exec hello.ts hello", 1],
  ["db upgrade", 1],
])("a home that cannot be made is one plain error of `engine %s`, at once", (line, code) => {
  const env = { PATH: process.env["PATH"], ENGINE_HOME: "/proc/engine/home" };
  const ended = spawnSync(process.execPath, [BIN, ...line.split(" ")], {
    cwd,
    env,
    encoding: "utf8",
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  expect(ended).toMatchObject({ status: code, stdout: "" });
  expect(ended.stderr).toMatch(
    /^error: the folder \/proc\/engine\/home\S* cannot be made \(ENOENT\); choose a place .* ENGINE_HOME.*\n$/,
  );
});

async function listening(web: WebServer): Promise<{ web: WebServer; url: string }> {
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  return { web, url: `http://127.0.0.1:${(web.address() as AddressInfo).port}` };
}

function leaves(command: Command, above = ""): string[] {
  return command.commands.flatMap((below) => {
    const path = `${above}${below.name()}`;
    return below.commands.length === 0 ? [path] : leaves(below, `${path} `);
  });
}
