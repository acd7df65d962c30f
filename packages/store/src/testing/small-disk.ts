/** A file system of a few MiB for tests of full disks: the real thing, which takes root on Linux. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly path: string;
  /** Gives it another size, or makes it read-only, or writable again. */
  remount(options: string): void;
  /** Leaves no room, but for so many bytes. */
  fill(butFor?: number): void;
  /** Takes away what {@link fill} wrote. */
  free(): void;
  remove(): void;
}

/** Undefined where there can be none, which is said once and loudly: a test is skipped then. */
export function smallDisk(options: string): SmallDisk | undefined {
  if (process.platform !== "linux") return skipped("file systems are mounted on Linux only");
  const path = mkdtempSync(join(tmpdir(), "engine-small-disk-"));
  try {
    mount("-t", "tmpfs", "-o", options, "tmpfs", path);
  } catch (error) {
    rmdirSync(path);
    return skipped((error as Error).message.trim());
  }
  const filler = join(path, "filler");
  return {
    path,
    fill(butFor = 0) {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(bavail * bsize - butFor, 0)));
      } catch (error) {
        // Somebody else wrote in between.
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    free: () => rmSync(filler, { force: true }),
    remount: (changed) => mount("-o", `remount,${changed}`, path),
    remove() {
      // Lazy: a process that still has a file open does not keep it.
      execFileSync("umount", ["--lazy", path], { stdio: "pipe" });
      rmdirSync(path);
    },
  };
}

function skipped(why: string): undefined {
  process.stderr.write(`SKIPPED: tests of a full disk, for which none can be mounted: ${why}\n`);
}

function mount(...args: string[]): void {
  execFileSync("mount", args, { stdio: "pipe" });
}
