import { createHash } from "node:crypto";
import { map, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Album = z.object({ photos: z.array(z.string()) });

//#region task
export const shrink = task(
  // However many executions shrink photos on a worker: together they get the cores that it has.
  { name: "shrink", requests: { cpu: 1, memory: "64MiB" } },
  async (photo: string) => createHash("sha256").update(photo).digest("hex").slice(0, 8),
);
//#endregion

/** Makes a small picture of every photo in an album. */
export const thumbnails = workflow(
  {
    name: "thumbnails",
    namespace: "examples",
    input: Album,
    //#region workflow
    requests: {
      memory: "256MiB",
      disk: "1GB",
      packages: ["zod@^4"],
    },
    //#endregion
  },
  async ({ photos }) => map(photos, (photo) => shrink(photo)),
);
