/** Names of hooks, which are segments of paths and of permissions (HOOK-1). */
export const HOOK_NAME_PATTERN: RegExp = /^[a-z0-9_][a-z0-9_-]{0,127}$/;

/** What {@link HOOK_NAME_PATTERN} allows, in words for an error message. */
export const HOOK_NAME_RULE =
  "1 to 128 small letters, digits, '_' or '-', beginning with a letter, a digit or '_'";

/** A hook of this name would be read by the grant `hook:deliveries:read`. */
export const RESERVED_HOOK_NAME = "deliveries";
