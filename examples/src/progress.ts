import { setTimeout as wait } from "node:timers/promises";
import { progress, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Archive = z.object({ files: z.int().min(1).max(10_000).default(50) });

//#region progress
const compress = task({ name: "compress" }, async (archive: { files: number }) => {
  for (let done = 1; done <= archive.files; done++) {
    await wait(20); // Stands for the work on one file.
    progress({ done, of: archive.files });
  }
  return { compressed: archive.files };
});
//#endregion

/** Tells whoever watches how far it is; when nobody does, the values cost nothing. */
export const compressArchive = workflow(
  { name: "compress_archive", namespace: "examples", input: Archive },
  async (archive) => await compress(archive),
);
