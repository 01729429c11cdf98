/** The name that binds a seal to the location of its value. All code that seals or checks uses the same names. */
import type { SessionAddress } from './session-host.ts';
import type { SealedHash } from './worker-protocol.ts';

type Owner = Pick<SessionAddress, 'tenantId' | 'shopId'>;

/** The field of `credentials` that holds a shop's identity on the network, from its pairing on. */
export const IDENTITY_FIELD = 'creds';

/** The name under which a shop's values are sealed (`credentialCiphers`). */
export function sealedOwner({ tenantId, shopId }: Owner): string {
  return `${tenantId}/${shopId}`;
}

/** The place that a value of a shop is bound to. */
export function sealedPlace(shop: Owner, hash: SealedHash, field: string): string {
  return `${sealedOwner(shop)}/${hash}/${field}`;
}
