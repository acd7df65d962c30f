import type * as sdk from "@aws-sdk/client-s3";
import { EngineError } from "@engine/contract";
import { storedValues } from "./stored-values.ts";
import type { ValueStore } from "./value-store.ts";

export interface S3Options {
  readonly bucket: string;
  /** What every key begins with. */
  readonly prefix: string;
  /** Of a compatible service; AWS itself when absent. */
  readonly endpoint?: string | undefined;
  /** Looked up where the SDK looks (environment, profile) when absent. */
  readonly region?: string | undefined;
}

/** What is used of the SDK. */
export type S3Sdk = Pick<
  typeof sdk,
  | "S3Client"
  | "PutObjectCommand"
  | "GetObjectCommand"
  | "ListObjectsV2Command"
  | "DeleteObjectCommand"
>;

const PACKAGE = "@aws-sdk/client-s3";
/** Objects of one listing, deleted at once. */
const DELETED_TOGETHER = 50;

/**
 * Values as objects of an S3 bucket. Credentials come from where the SDK finds them.
 *
 * @throws EngineError `invalid_input` when the SDK is not installed, or no region is known.
 */
export async function openS3Values(
  { bucket, prefix, endpoint, region }: S3Options,
  importSdk: () => Promise<S3Sdk> = () => import("@aws-sdk/client-s3"),
): Promise<ValueStore> {
  const {
    S3Client,
    PutObjectCommand,
    GetObjectCommand,
    ListObjectsV2Command,
    DeleteObjectCommand,
  } = await importSdk().catch(refuseMissing);
  const client = new S3Client({
    // Services that are compatible have neither a host name per bucket nor the newer checksums;
    // what is read back is held against its own hash anyway.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(region !== undefined && { region }),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  await client.config.region().catch(refuseNowhere);
  const start = prefix === "" ? "" : `${prefix.replace(/^\/+|\/+$/g, "")}/`;

  return storedValues({
    type: "s3",
    unit: "object",
    async write(reference_id, text) {
      const Key = start + reference_id;
      const object = { Bucket: bucket, Key, Body: text, ContentType: "application/json" };
      await client.send(new PutObjectCommand(object));
    },
    async read(reference_id) {
      try {
        const object = { Bucket: bucket, Key: start + reference_id };
        const { Body } = await client.send(new GetObjectCommand(object));
        return await Body?.transformToString();
      } catch (error) {
        if (error instanceof Error && error.name === "NoSuchKey") return undefined;
        throw error;
      }
    },
    // One by one: not every compatible service deletes many objects in one call.
    async deleteAll(execution_id) {
      const Prefix = `${start}${execution_id}/`;
      let ContinuationToken: string | undefined;
      do {
        const page = { Bucket: bucket, Prefix, MaxKeys: DELETED_TOGETHER, ContinuationToken };
        const listed = await client.send(new ListObjectsV2Command(page));
        await Promise.all(
          (listed.Contents ?? []).map(({ Key }) =>
            client.send(new DeleteObjectCommand({ Bucket: bucket, Key })),
          ),
        );
        ContinuationToken = listed.NextContinuationToken;
      } while (ContinuationToken !== undefined);
    },
    reasonOf: (cause) => `S3 answered ${cause instanceof Error ? cause.name : "an unknown error"}`,
  });
}

function refuseMissing(cause: unknown): never {
  const { code, message } = cause as NodeJS.ErrnoException;
  // A part of it that is missing is another trouble.
  if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${PACKAGE}'`)) throw cause;
  throw refused(
    "engine.storage.type",
    `"s3" needs the package ${PACKAGE}; install it beside the engine: npm install ${PACKAGE}`,
    cause,
  );
}

function refuseNowhere(cause: unknown): never {
  const message = "no region is known; set it here or in AWS_REGION";
  throw refused("engine.storage.region", message, cause);
}

/** A key of `[engine.storage]` that is missing or cannot be followed. */
export function refused(key: string, message: string, cause?: unknown): EngineError {
  return new EngineError("invalid_input", `${key}: ${message}`, {
    details: { issues: [{ path: key, message }] },
    cause,
  });
}
