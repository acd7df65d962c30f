/** What a runner thread is started with. */
export interface ThreadData {
  /** Address of the folder of the bundles, with a slash at its end. */
  readonly folder: string;
  /** Shared: number of the copy whose code was entered last. */
  readonly entered: Int32Array;
}
