import { Worker } from "node:worker_threads";

/**
 * Ends this process group when its parent is gone, on a thread of its own: a program that is blocked
 * would not notice otherwise, and go on for ever.
 */
export function watchParent(parent: number): void {
  const watch = `
    setInterval(() => {
      if (process.ppid !== ${parent}) process.kill(-process.pid, "SIGKILL");
    }, 1000);
  `;
  new Worker(watch, { eval: true, execArgv: [], env: {} }).unref();
}
