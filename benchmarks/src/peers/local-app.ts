// Ours as a library in the application's process: no server, no worker.
import { Config } from "@engine/contract";
import { openLocal } from "@engine/local";
import { openStore, openValueStore } from "@engine/store";
import { gate } from "../gate.ts";
import { chain } from "../workflows/bench-workflows.ts";
import type { Load } from "./contestant.ts";
import { loadByCalls } from "./load-by-calls.ts";
import { serveApp } from "./serve-app.ts";

const { ENGINE_HOME: home, DATABASE_URL: url } = process.env;
gate(home !== undefined && url !== undefined, () => "no ENGINE_HOME or no DATABASE_URL is set");
const store = await openStore(url, { synchronous: "full" });
const config = Config.parse({ home });
const values = await openValueStore(config);
const local = openLocal({ store, values, limits: config.executions });

serveApp(
  {},
  {
    load: (load) =>
      loadByCalls(load as Load, async (tasks) => (await local.run(chain, tasks)).output),
    completed: async () => {
      const { total } = await store.executions.list({
        states: ["COMPLETED"],
        order: "created_asc",
        limit: 1,
        offset: 0,
      });
      return total;
    },
  },
);
