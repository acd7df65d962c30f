// Loaded into a server before its program (`--expose-gc --import`): on SIGUSR2 it prints what its
// memory holds once everything that can go is gone. The server itself knows nothing of it.
const collect = (globalThis as { gc?: () => void }).gc;
let asked = 0;

process.on("SIGUSR2", () => {
  // The second one takes what finalizers of the first let go.
  collect?.();
  collect?.();
  asked++;
  process.stdout.write(`memory ${asked} ${JSON.stringify(process.memoryUsage())} end\n`);
});
