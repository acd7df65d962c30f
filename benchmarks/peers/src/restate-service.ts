// The process that holds the workflows of Restate; the Restate server calls it.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { endWithParent } from "../../src/peers/serve-app.ts";
import { sharedClock } from "../../src/shared-clock.ts";

const chain = restate.workflow({
  name: "chain",
  handlers: {
    run: async (context: restate.WorkflowContext, tasks: number): Promise<number> => {
      let n = 0;
      while (n < tasks) {
        const before = n;
        n = await context.run("step", () => before + 1);
      }
      return n;
    },
  },
});

const started = restate.workflow({
  name: "started",
  handlers: {
    run: (_context: restate.WorkflowContext): Promise<number> => Promise.resolve(sharedClock()),
  },
});

const server = createServer(restate.createEndpointHandler({ services: [chain, started] }));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  process.stdout.write(`ready ${JSON.stringify({ port })} end\n`);
});
endWithParent();
