import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ServerOptions } from "node:https";
import { createSecureContext } from "node:tls";
import { EngineError } from "@engine/contract";
import type { HttpLog } from "./refusal.ts";
import { type Repeat, repeat } from "./repeat.ts";

/** How often the files are read to see whether they have changed. */
const LOOK_MS = 10_000;

/** `[engine.server.tls]` (NET-6). */
export interface TlsSettings {
  readonly cert_file?: string | undefined;
  readonly key_file?: string | undefined;
  readonly min_version: "1.2" | "1.3";
  readonly client_ca_file?: string | undefined;
  readonly require_client_cert: boolean;
}

type TlsOptions = Pick<
  ServerOptions,
  "cert" | "key" | "ca" | "minVersion" | "requestCert" | "rejectUnauthorized"
>;

/** What the files hold, or what is wrong with it. */
type Found =
  | { readonly texts: string; readonly options: TlsOptions }
  | { readonly texts: string; readonly problems: readonly string[] };

/** What is wrong with the settings and the files they name, a line each (AUTH-3). */
export async function tlsProblems(settings: TlsSettings): Promise<readonly string[]> {
  const found = isUsed(settings) ? await read(settings) : undefined;
  return found && "problems" in found ? found.problems : [];
}

interface World {
  readonly log: HttpLog;
  /** Runs the look for files that have changed. */
  readonly timer?: Repeat;
}

/** The certificate of a server, which takes new ones from its files while it serves (NET-6). */
export class Tls {
  readonly #settings: TlsSettings;
  readonly #log: HttpLog;
  readonly #stop: () => void;
  #options: TlsOptions;
  /** What the files held at the last look, of use or not. */
  #seen: string;
  #looking: Promise<void> = Promise.resolve();
  #renewed: (options: TlsOptions) => void = () => {};

  private constructor(
    settings: TlsSettings,
    first: { texts: string; options: TlsOptions },
    { log, timer = repeat }: World,
  ) {
    this.#settings = settings;
    this.#log = log;
    this.#options = first.options;
    this.#seen = first.texts;
    this.#stop = timer(LOOK_MS, () => void this.#look());
  }

  /**
   * Undefined where no certificate is configured.
   *
   * @throws EngineError `invalid_input` with the lines of {@link tlsProblems}.
   */
  static async open(settings: TlsSettings, world: World): Promise<Tls | undefined> {
    if (!isUsed(settings)) return undefined;
    const found = await read(settings);
    if ("options" in found) return new Tls(settings, found, world);
    throw new EngineError("invalid_input", found.problems.join("\n"));
  }

  get options(): TlsOptions {
    return this.#options;
  }

  /** @param renewed Called with what connections are to begin with from now on. */
  onRenewed(renewed: (options: TlsOptions) => void): void {
    this.#renewed = renewed;
  }

  /** Reads the files again, and tells of them also where they have not changed. */
  reload(): Promise<void> {
    this.#seen = "";
    return this.#look();
  }

  close(): void {
    this.#stop();
  }

  /** One look after the other: the files of a later one count. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      const found = await read(this.#settings);
      if (found.texts === this.#seen) return;
      this.#seen = found.texts;
      if ("problems" in found) {
        const { problems } = found;
        this.#log.error({ problems }, "the new certificate is of no use; the old one is kept");
        return;
      }
      this.#options = found.options;
      this.#renewed(found.options);
    });
    return this.#looking;
  }
}

function isUsed({
  cert_file,
  key_file,
  client_ca_file,
  require_client_cert,
}: TlsSettings): boolean {
  return [cert_file, key_file, client_ca_file].some(Boolean) || require_client_cert;
}

const KEY = "engine.server.tls";

async function read(settings: TlsSettings): Promise<Found> {
  const { cert_file, key_file, client_ca_file, min_version, require_client_cert } = settings;
  const problems: string[] = [];
  const textOf = async (key: string, file: string | undefined) => {
    if (file === undefined) return "";
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      problems.push(`${KEY}.${key}: ${file} cannot be read (${code})`);
      return "";
    }
  };
  if (!cert_file) problems.push(`${KEY}.cert_file: needed beside the other keys of ${KEY}`);
  if (!key_file) problems.push(`${KEY}.key_file: needed beside the other keys of ${KEY}`);
  if (require_client_cert && !client_ca_file)
    problems.push(`${KEY}.client_ca_file: needed where client certificates are required`);
  // One after the other, so that problems have the order of the keys.
  const cert = await textOf("cert_file", cert_file);
  const key = await textOf("key_file", key_file);
  const ca = await textOf("client_ca_file", client_ca_file);
  if (problems.length === 0) {
    problems.push(...pairProblems({ cert, key }, settings));
    if (client_ca_file && !attempt(() => new X509Certificate(ca)))
      problems.push(`${KEY}.client_ca_file: ${client_ca_file} holds no certificates in PEM`);
  }
  const texts = JSON.stringify([cert, key, ca, problems]);
  if (problems.length > 0) return { texts, problems };
  const minVersion = min_version === "1.3" ? "TLSv1.3" : "TLSv1.2";
  const clients = client_ca_file
    ? { ca, requestCert: true, rejectUnauthorized: require_client_cert }
    : {};
  return { texts, options: { cert, key, minVersion, ...clients } };
}

function pairProblems(
  { cert, key }: { readonly cert: string; readonly key: string },
  { cert_file, key_file }: TlsSettings,
): readonly string[] {
  const certificate = attempt(() => new X509Certificate(cert));
  const privateKey = attempt(() => createPrivateKey(key));
  const problems: string[] = [];
  if (!certificate || !attempt(() => createSecureContext({ cert })))
    problems.push(`${KEY}.cert_file: ${cert_file} holds no certificate in PEM`);
  if (!privateKey)
    problems.push(`${KEY}.key_file: ${key_file} holds no private key in PEM, without a passphrase`);
  if (certificate && privateKey && !certificate.checkPrivateKey(privateKey))
    problems.push(`${KEY}.key_file: ${key_file} is not the key of the certificate in ${cert_file}`);
  return problems;
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
