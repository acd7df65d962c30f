/** What a try of a delivery was judged by: nothing is written once any of it is otherwise (HOOK-26). */
export interface DeliveryGuard {
  readonly delivery_id: string;
  /** Before the try. */
  readonly attempts: number;
  readonly hook_id: string;
  /** Of the hook. */
  readonly revision: number;
}
