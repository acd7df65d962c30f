import { join } from "node:path";
import type { Config } from "@engine/contract";
import { fileValues, sweepUnfinished } from "./file-values.ts";
import { openS3Values, refused } from "./s3-values.ts";
import type { ValueStore } from "./value-store.ts";

/**
 * Opens the output storage that `[engine.storage]` describes.
 *
 * @throws EngineError `invalid_input` in one line that names the key.
 */
export async function openValueStore({
  home,
  storage,
}: Pick<Config, "home" | "storage">): Promise<ValueStore> {
  const { type, path = join(home, "values"), bucket, prefix, endpoint, region } = storage;
  switch (type) {
    case "file":
      await sweepUnfinished(path);
      return fileValues(path);
    case "s3":
      if (bucket === undefined) {
        throw refused("engine.storage.bucket", 'type = "s3" needs the name of a bucket');
      }
      return openS3Values({ bucket, prefix, endpoint, region });
  }
}
