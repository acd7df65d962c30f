/**
 * Whether a host is this machine (RFC 6761, RFC 5735): what is sent there cannot be read on its way.
 *
 * @param hostname As `URL` has it: an IPv6 address in brackets.
 */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d+){3}$/.test(hostname)
  );
}
