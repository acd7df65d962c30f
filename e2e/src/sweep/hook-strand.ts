import type { DeliveryRecord } from "@engine/contract";
import { until } from "../harness/until.ts";
import { ask, PATIENCE_MS } from "./patient.ts";
import type { Site } from "./site.ts";

const post = { method: "POST" } as const;
const remove = { method: "DELETE" } as const;

/** Two hooks on one event: a target that is there runs once, one that is gone leaves a dead delivery. */
export async function firesHooks(site: Site): Promise<void> {
  const { http, ledger, prefix, credentials } = site;
  const of = (name: string) => `${prefix.replaceAll("-", "_")}_${name}`;
  const [fired, target, gone] = [of("fired"), of("target"), of("gone")];
  for (const name of [fired, target, gone]) {
    const source = `import { workflow } from "@engine/sdk";\nexport const it = workflow({ name: "${name}" }, async () => 1);\n`;
    await ask(http, "/workflows", { ...post, body: { source } });
  }
  const [live, dead] = [`${prefix}-live`, `${prefix}-dead`];
  const principal = credentials?.account ?? "nobody";
  const selectors = [`execution:default:${fired}:completed`];
  const hooks = [
    { name: live, workflow: target },
    { name: dead, workflow: gone },
  ];
  for (const hook of hooks)
    await ask(http, "/hooks", { ...post, body: { ...hook, selectors, principal } });
  await ask(http, `/workflows/default/${gone}`, remove);
  await ask(http, `/hooks/${live}`, { method: "PUT", body: { max_attempts: 100 } });

  const id = await site.start(fired, 120);
  ledger.expect(id, "COMPLETED", 1);
  const started = await settled(site, live, "delivered");
  ledger.planned++;
  ledger.expect(started.execution_id as string, "COMPLETED", 1);
  ledger.countUnkeyed(await ask(http, `/hooks/${live}/test`, post));

  const { id: lost } = await settled(site, dead, "dead");
  await ask(http, `/hooks/${dead}/deliveries/${lost}/retry`, post);
  await settled(site, dead, "dead");
  await ask(http, `/hooks/${dead}/deliveries/retry`, { ...post, body: {} });
  await settled(site, dead, "dead");
  for (const name of [live, dead]) {
    await ask(http, `/hooks/${name}`, remove);
    const { status } = await ask(http, `/hooks/${name}`);
    if (status !== 404) ledger.wrong(`${name} is there although it was deleted: ${status}`);
  }
}

/** The one delivery of a hook, once it has that status. */
async function settled(
  { http, ledger }: Site,
  hook: string,
  status: DeliveryRecord["status"],
): Promise<DeliveryRecord> {
  let found: DeliveryRecord | undefined;
  const isSettled = async () => {
    const { body } = await ask<{ items: DeliveryRecord[] }>(http, `/hooks/${hook}/deliveries`);
    if (body.items.length > 1)
      ledger.wrong(`${hook} has ${body.items.length} deliveries of one event`);
    found = body.items.find((one) => one.status === status);
    return found !== undefined;
  };
  await until(`the delivery of ${hook} is ${status}`, isSettled, PATIENCE_MS);
  return found as unknown as DeliveryRecord;
}
