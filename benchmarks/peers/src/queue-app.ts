// The application's side of the queue: it answers a request by adding a job.
import { makeWorkerUtils } from "graphile-worker";
import { serveApp } from "../../src/peers/serve-app.ts";

const utils = await makeWorkerUtils({ connectionString: process.env["DATABASE_URL"] ?? "" });
await utils.migrate();

serveApp(
  {},
  {
    enqueue: async () => (await utils.addJob("started", {})).id,
    settings: (names) =>
      utils.withPgClient(async (client) => {
        const { rows } = await client.query(
          "SELECT name, setting FROM pg_settings WHERE name = ANY($1)",
          [names],
        );
        return Object.fromEntries(
          (rows as { name: string; setting: string }[]).map(({ name, setting }) => [name, setting]),
        );
      }),
    left: () =>
      utils.withPgClient(async (client) => {
        const { rows } = await client.query(
          "SELECT count(*)::int AS jobs FROM graphile_worker._private_jobs",
        );
        return (rows[0] as { jobs: number }).jobs;
      }),
  },
);
