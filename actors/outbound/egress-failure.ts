/** No connection was made through a shop's egress. The message names the cause, and neither the proxy nor its password. */
export class EgressFailure extends Error {
  readonly code = 'EGRESS_UNREACHABLE';
  /** Whether the proxy itself is away or refuses us; false: it answers, and does not reach that one address. */
  readonly isProxy: boolean;

  constructor(message: string, { isProxy }: { readonly isProxy: boolean }) {
    super(message);
    this.isProxy = isProxy;
  }
}
