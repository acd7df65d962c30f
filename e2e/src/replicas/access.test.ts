import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { type ClusterServer, startCluster } from "../harness/cluster.ts";
import { accountOf, asAdmin, GUARDED } from "../harness/guarded.ts";
import { Http } from "../harness/http.ts";
import { until } from "../harness/until.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
export const waiting = workflow({ name: "waiting" }, async (input) => input);
`;

test.each([
  ["", true],
  [", also where notifications are lost", false],
] as const)(
  "AUTH-57 AUTH-58 whoever is disabled is refused at once where that was asked, and by another server within 2 s%s",
  async (_, hears) => {
    await using cluster = await startCluster({ workers: [], env: GUARDED, hears });
    const [near, far] = cluster.servers as [ClusterServer, ClusterServer];
    if (!hears) await far.process.printed(/the database's notifications do not arrive/);
    const admin = await asAdmin({ home: cluster.home, url: near.http.url });
    await admin.post("/workflows", { source: SOURCE });
    const { execution_id } = (
      await admin.post<ExecutionRecord>("/workflows/default/waiting/run/async")
    ).body;
    // Several times, so that nothing depends on when the servers have read last.
    for (let n = 0; n < 5; n++) {
      const key = await accountOf(admin, `reader-${n}`, "viewer");
      const [here, there] = [near, far].map(({ http }) => new Http(http.url, key)) as [Http, Http];
      const isLetIn = async (http: Http) => (await http.get("/executions")).status === 200;
      await until("both servers know it", async () => (await isLetIn(here)) && isLetIn(there));
      const events: string[] = [];
      const stream = (async () => {
        for await (const { event } of there.follow(execution_id)) events.push(event);
      })();
      await until("the stream is open", () => events.length > 0);

      await admin.post(`/admin/principals/reader-${n}/disable`);
      const since = performance.now();
      const refused = { status: 401, body: { error: { details: { reason: "disabled" } } } };
      expect(await here.get("/executions")).toMatchObject(refused);
      await until("the other server refuses it", async () => !(await isLetIn(there)));
      expect(performance.now() - since).toBeLessThan(2_000);
      expect(await there.get("/executions")).toMatchObject(refused);
      await stream;
      expect(performance.now() - since).toBeLessThan(5_000);
      expect(events.at(-1)).toBe("error");
    }
  },
);
