/** Keys of labels and metadata, and names of services: one grammar, with the words that state it. */

export const ATTRIBUTE_KEY: RegExp = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
/** A head that some ending can make a key of. */
const KEY_HEAD = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
export const SERVICE_NAME: RegExp = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const SERVICE_NAME_LENGTH = 32;
/** Label that a worker has of each service that was granted to it; only the server makes it (WMD-3). */
export const SERVICE_PREFIX = "engine.service.";

export const KEY_LENGTH: Readonly<Record<"label" | "meta", number>> = { label: 128, meta: 64 };

export function isAttributeKey(of: "label" | "meta", key: string): boolean {
  return key.length <= KEY_LENGTH[of] && ATTRIBUTE_KEY.test(key);
}

export function isKeyHead(of: "label" | "meta", prefix: string): boolean {
  return prefix.length < KEY_LENGTH[of] && KEY_HEAD.test(prefix);
}

export function isServiceName(name: string): boolean {
  return name.length <= SERVICE_NAME_LENGTH && SERVICE_NAME.test(name);
}

export const SERVICE_RULE =
  "a service name is 1 to 32 characters: lower-case words of letters and digits, joined by hyphens";

/** What a key has to be, in words. */
export function keyRule(of: "label" | "meta"): string {
  const what = of === "label" ? "a label key" : "a metadata key";
  return `${what} is 1 to ${KEY_LENGTH[of]} letters, digits, '.', '_' or '-', beginning and ending with a letter or a digit`;
}
