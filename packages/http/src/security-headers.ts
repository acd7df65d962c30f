/** Headers of every answer (NET-3). */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** The same over TLS: a browser comes back by https for a year, whatever a link says. */
export const SECURITY_HEADERS_OF_TLS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  "strict-transport-security": "max-age=31536000",
};
