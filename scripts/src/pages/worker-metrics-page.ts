import { BUILTIN_METRICS } from "@engine/contract";
import { code, fenced, table } from "../markdown.ts";

const PROVIDER = `import { readdir } from "node:fs/promises";

export async function collect(): Promise<Record<string, number>> {
  const inbox = await readdir("/var/spool/inbox");
  return { "inbox.depth": inbox.length };
}`;

const SOCKET = `const infer = task({ name: "infer" }, async (prompt: string) => {
  const socket = connect(serviceSocket("inference"));
  return ask(socket, prompt);
});`;

/** `docs/worker-metrics-and-services.md`, from the table of a worker's metrics. */
export function workerMetricsPage(): string {
  const rows = Object.entries(BUILTIN_METRICS).map(([name, { unit, meaning }]) => [
    code(name),
    unit,
    meaning,
  ]);
  return `# Metrics and services of a worker

What a worker measures, and which local sockets its tasks may use. Both are attributes that an operator sees (\`engine worker show\`) and that routing can go by.

## The engine's own metrics

They come with each heartbeat (\`heartbeat_interval\`, 10 s, and at once when something important changes). A figure that cannot be told yet is absent rather than 0. \`[engine.workers] builtin_metrics = false\` turns them off; then nothing is measured.

${table(["metric", "unit", "meaning"], rows)}
## Metrics of your own

${fenced("toml", '[engine.workers]\nmetrics_provider = "./metrics.ts#collect"\nmetrics_interval = 10')}
${fenced("ts", PROVIDER)}
The path starts in the worker's working directory; the file may be TypeScript that Node can strip, or JavaScript. The export (without \`#collect\` the default one) is a function that gives a record of numbers, or a promise of one. It is called when the worker starts and then each \`metrics_interval\`, on a thread of its own with the environment of runner threads.

- **Keys.** At most 32, of at most 64 letters, digits, \`.\`, \`_\` or \`-\`. What is beyond, keys beginning \`engine.\` and keys of another form are dropped; the log names each once. The rest counts.
- **Failures.** A call that throws, rejects, gives no record or takes longer than 5 s is a warning in the log, and the last values are told through three failures in a row; then they are absent until a call succeeds. The same holds for a single key whose value is no finite number.
- **Hanging.** A thread whose call takes longer than 5 s is ended, whatever it does, and the module is loaded anew for the next call. The worker and its executions do not notice.
- **Start.** A module that does not load, or lacks the export, stops the worker at start with exit code 2.

A server refuses a heartbeat with more than 64 metrics, a key over 128 characters, or a value that is not finite.

## Local services

A machine may have something that only code on it can reach: a model server, a cache, a device. A worker offers it as a socket with a name:

${fenced("toml", '[engine.workers.services]\ninference = "/run/inference.sock"')}
${fenced("sh", "npx engine start worker gpu-1 --service inference=/run/inference.sock")}
Offering is not enough: the server grants it, when an operator says so (\`engine worker service grant gpu-1 inference\`). A task asks for the path when it needs it:

${fenced("ts", SOCKET)}
- \`serviceSocket\` gives the path while the worker offers the service and it is granted. Otherwise it throws \`ServiceNotGrantedError\`, whose \`failure.details.reason\` is \`not_offered\` or \`not_granted\`; it is not retried, and a fallback or the body may catch it.
- A grant that comes or goes while a task runs holds for its next call. A connection that is open is not cut: ask again for each.
- It is for functions of tasks, their fallbacks and rollbacks. In a body, in a schema and outside of workflows it throws \`no_execution\`. Nothing of it is recorded, and the path never leaves the worker.
- Names are lower-case words joined by hyphens, up to 32 characters. A relative path starts in the worker's working directory.
- In a local run (\`workflow.run\`, \`engine exec\`) there is nobody to grant: every socket of the process's own configuration is given. In a test, \`testEngine({ services: { inference: path } })\` gives those that it names.
`;
}
