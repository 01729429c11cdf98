import { ValueFreeError } from '../../runtime/described-error.ts';

/**
 * No connection was made through a shop's egress. The message names the cause, but neither the proxy nor its password.
 */
export class EgressFailure extends ValueFreeError {
  readonly code = 'EGRESS_UNREACHABLE';
  /**
   * True if the proxy itself is unreachable or refuses us. False if it answers, but does not reach that one address.
   */
  readonly isProxy: boolean;

  constructor(message: string, { isProxy }: { readonly isProxy: boolean }) {
    super(message);
    this.isProxy = isProxy;
  }
}
