/**
 * The lines of a stack as V8 writes it, in words that name no folder of this machine. Stacks of
 * bundles name the author's sources: Node reads the map that a bundle brings along.
 */

/** A line of a stack that is neither the engine's nor Node's own. */
export interface Frame {
  /** `lib/orders.ts:12:9`: from the folder that was registered, or from the one the process runs in. */
  readonly place: string;
  /** The function, as V8 calls it; empty at the top of a module. */
  readonly name: string;
  /** In a file of the author's, not in a package. */
  readonly isAuthors: boolean;
}

/** Characters of a stack that are read: `error.stack` may be anything an author puts there. */
const MOST_CHARACTERS = 32_768;
/** Before the paths of sources in the maps of bundles. */
const REGISTERED = "workflow:///";
/** Where an address begins behind the name of a function. */
const ADDRESS = / \((?=file:\/\/|\/|workflow:\/\/)/;
/** A bundle where a worker keeps it: a line that no map tells of. */
const BUNDLE = /\/[0-9a-f]{64}\.mjs$/;
/** The folder of the engine's packages. */
const ENGINE = decoded(new URL("../../../", import.meta.url).pathname);

/** @param stack With or without the message before the first line. */
export function framesOf(stack: string): Frame[] {
  return stack
    .slice(0, MOST_CHARACTERS)
    .split("\n")
    .flatMap((line) => frameOf(line) ?? []);
}

/** The lines below an error's message; the message may look like lines itself. */
export function linesBelow(stack: string, message: string): string {
  const at = message === "" ? -1 : stack.indexOf(message);
  // It begins in the first line, behind the name of the error.
  const isHead = at >= 0 && !stack.slice(0, at).includes("\n");
  return isHead ? stack.slice(at + message.length) : stack;
}

function frameOf(line: string): Frame | undefined {
  const [, rest = ""] = /^\s*at (.+)$/.exec(line) ?? [];
  const named = ADDRESS.exec(rest);
  const name = named ? rest.slice(0, named.index) : "";
  const address = named ? rest.slice(named.index + 2, -1) : rest.replace(/^async /, "");
  const [, url = "", position = ""] = /^(.+?)(:\d+:\d+)$/.exec(address) ?? [];
  const file = fileOf(url);
  return file && { place: printable(file.path + position), name: printable(name), ...file.of };
}

function fileOf(url: string): { path: string; of: Pick<Frame, "isAuthors"> } | undefined {
  const isRegistered = url.startsWith(REGISTERED);
  if (!isRegistered && !url.startsWith("/") && !url.startsWith("file:///")) return undefined;
  // Code that was made of a text: what is left of its address is no file.
  if (url.includes("), <")) return undefined;
  const path = decoded(url.replace(/^(workflow|file):\/\//, "").replace(/\?.*$/, ""));
  const inPackage = path.lastIndexOf("/node_modules/");
  if (inPackage >= 0) {
    const inside = path.slice(inPackage + 1);
    const isEngine = inside.startsWith("node_modules/@engine/");
    return isEngine ? undefined : { path: inside, of: { isAuthors: false } };
  }
  if (isRegistered) return { path: path.slice(1), of: { isAuthors: true } };
  if (BUNDLE.test(path)) return undefined;
  // A test of the engine's own stands for a user's file.
  if (path.startsWith(ENGINE) && !/\.test\.[jt]s$/.test(path)) return undefined;
  return { path: fromHere(path), of: { isAuthors: true } };
}

/** A file of a local run: stacks travel, so one from elsewhere is named without its folders. */
function fromHere(path: string): string {
  const here = `${workingFolder()}/`;
  return path.startsWith(here) ? path.slice(here.length) : path.slice(path.lastIndexOf("/") + 1);
}

/** Empty where it has been removed. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Names of functions can be computed, and are shown on terminals. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}
