import type { Json } from "@engine/contract";
import type { Command } from "commander";
import { neverAnArgument, readHidden, stdinOption } from "../../arguments/hidden-value.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { readTextFile } from "../../io/text-file.ts";
import { secretView } from "../../render/secret-view.ts";
import { onServer } from "../../server-call.ts";

interface SetOptions {
  readonly json?: boolean;
  readonly unmasked?: boolean;
  readonly description?: string;
  readonly ifVersion?: number;
  readonly stdin?: boolean;
  readonly fromFile?: string;
}

export function addSet(secrets: Command, io: CliIo): void {
  const command = secrets
    .command("set")
    .summary("Keeps a secret, new or with another value.")
    .description(
      "Keeps a secret, new or with another value, which tasks get from their next start on. The value is asked for and not shown, or comes from a file or standard input; the newline at its end does not belong to it. What is shorter than 8 characters cannot be masked.",
    )
    .argument("<name>", "name of the secret, as tasks declare it")
    .option("--json", "the value is JSON, each text in it is masked (default: a text)")
    .option("--unmasked", "show it wherever it turns up, also where it is short")
    .option("--description <text>", "what it is for; an empty one takes it away")
    .option(
      "--if-version <n>",
      "only where it is still of this version; 0 = only where there is none",
      wholeNumber(0),
    )
    .option("--from-file <file>", "read the value from a file of text");
  stdinOption(command);
  neverAnArgument(
    command,
    "secret value",
    "it is asked for, or comes with --from-file FILE or --stdin",
  );
  onServer(io, command, async ({ client, print }, name: string, options: SetOptions) => {
    const { description, ifVersion, unmasked } = options;
    const body = {
      value: await readValue(io, options),
      ...(unmasked && { unmasked }),
      ...(description !== undefined && { description: description || null }),
      ...(ifVersion !== undefined && { if_version: ifVersion }),
    };
    const { body: record } = await client.secrets.put({ params: { name }, body });
    print(record, secretView);
  });
  examples(command, [
    "secrets set stripe_key",
    `secrets set tls_key --from-file tls.pem --description "key of shop.example.com"`,
    "secrets set database --json --stdin < database.json",
  ]);
}

async function readValue(io: CliIo, { json, stdin, fromFile }: SetOptions): Promise<Json> {
  if (stdin && fromFile !== undefined) {
    throw new UsageError("the value comes either from standard input or from a file: name one");
  }
  const text =
    fromFile === undefined
      ? await readHidden(io, { what: "value", stdin })
      : readTextFile(io, fromFile, `--from-file ${fromFile}`).replace(/\r?\n$/, "");
  // What bytes that are no text have become would be kept in their place.
  if (text.includes("\ufffd")) {
    throw new UsageError("the value is no text in UTF-8: send what is binary as base64");
  }
  if (!json) return text;
  try {
    return JSON.parse(text);
  } catch {
    // Its own message would quote the value.
    throw new UsageError("the value is not JSON; without --json it is kept as a text");
  }
}
