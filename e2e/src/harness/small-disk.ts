import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, small enough to be filled. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Leaves no room, but for so many bytes. */
  fill(butFor?: number): void;
  /** Takes away what {@link fill} wrote. */
  free(): Promise<void>;
}

/** Said where tests of full disks are left out: what they prove is not known then. */
export const WITHOUT_MOUNT =
  "NO RIGHT TO MOUNT A FILE SYSTEM: the tests of full disks did not run (they need Linux and root)";

export function mayMount(): boolean {
  return process.platform === "linux" && process.getuid?.() === 0;
}

export function mountSmallDisk(size: string): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "engine-small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path]);
  const filler = join(path, "filler");
  return {
    path,
    fill(butFor = 0) {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(Math.max(bavail * bsize - butFor, 0)));
    },
    free: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      // Lazily: what still has a file open there keeps nobody waiting.
      execFileSync("umount", ["-l", path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
