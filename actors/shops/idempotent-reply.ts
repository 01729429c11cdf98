/** The reply to a call that makes something, once for each idempotency key. */
export interface IdempotentReply<Accepted> {
  /** True if an earlier call with the same key made it. */
  readonly isReplayed: boolean;
  /** True if that call had another content. */
  readonly differs: boolean;
  readonly accepted: Accepted;
}
