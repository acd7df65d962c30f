/** `1 file`, `2 files`. */
export function counted(things: number | readonly unknown[], what: string): string {
  const count = typeof things === "number" ? things : things.length;
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
