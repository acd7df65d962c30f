import { EngineError } from "@engine/contract";

/** What is used of Node where the client runs in it; elsewhere there is none of it. */
interface NodeProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  getBuiltinModule?(id: "node:fs"): { readFileSync(path: string, encoding: "utf8"): string };
  getBuiltinModule?(id: "node:tls"): {
    getCACertificates?(type: "default"): string[];
    setDefaultCACertificates?(certificates: readonly string[]): void;
  };
}

/** The file whose authorities the process trusts by now. */
let trusted: string | undefined;

/**
 * Lets all of this process trust the authorities of a file beside those it trusts anyway, as that of a
 * certificate which an operator made (NET-6). Clients do so by themselves for the file that
 * `ENGINE_CA_FILE` names.
 *
 * @param file Certificates in PEM; undefined changes nothing.
 * @throws EngineError `invalid_input` for a file that cannot be read, or holds no certificate.
 */
export function trustCaFile(file: string | undefined): void {
  const { process } = globalThis as { process?: NodeProcess };
  if (!file || file === trusted || !process?.getBuiltinModule) return;
  const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule("node:tls");
  if (!getCACertificates || !setDefaultCACertificates) {
    throw unusable(
      `Node ${process.version} takes no authorities while it runs; start it with NODE_EXTRA_CA_CERTS=${file}, or use Node 22.19, 24.5 or newer`,
    );
  }
  const certificates = certificatesIn(textOf(process, file));
  if (certificates.length === 0) throw unusable(`${file} holds no certificate in PEM`);
  try {
    setDefaultCACertificates([...getCACertificates("default"), ...certificates]);
  } catch {
    throw unusable(`${file} holds a certificate that cannot be read`);
  }
  trusted = file;
}

/** The file of the environment, where there is one. */
export function caFileOfEnvironment(): string | undefined {
  return (globalThis as { process?: NodeProcess }).process?.env["ENGINE_CA_FILE"];
}

function textOf(process: NodeProcess, file: string): string {
  try {
    return process.getBuiltinModule?.("node:fs").readFileSync(file, "utf8") ?? "";
  } catch (error) {
    throw unusable(`${file} cannot be read (${(error as { code?: string }).code})`);
  }
}

function certificatesIn(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

function unusable(message: string): EngineError {
  return new EngineError("invalid_input", `ENGINE_CA_FILE: ${message}`);
}
