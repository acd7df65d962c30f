/**
 * Hears of what would end the process otherwise: exceptions without a catch, promises without anybody.
 *
 * @returns Stops listening.
 */
export function onUncaught(tell: (what: string) => void): () => void {
  const text = (error: unknown) => (error instanceof Error ? error.stack : String(error));
  const onException = (error: unknown) => tell(`nobody catches an exception: ${text(error)}`);
  const onRejection = (error: unknown) => tell(`nobody handles a rejection: ${text(error)}`);
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  return () => {
    process.off("uncaughtException", onException);
    process.off("unhandledRejection", onRejection);
  };
}
