/** Asks again and again until the answer is yes; rejects with what it waited for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs: number = 60_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
