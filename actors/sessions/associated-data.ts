/** The associated data of a seal bind it to the location of its value. */
import type { SessionAddress } from './session-host.ts';
import type { SealedHash } from './worker-protocol.ts';

type Owner = Pick<SessionAddress, 'tenantId' | 'shopId'>;

/** The field of `credentials` with a shop's identity on the network, which exists after its pairing. */
export const IDENTITY_FIELD = 'creds';

/** Returns the name under which a shop's values are sealed (`credentialCiphers`). */
export function sealedOwner({ tenantId, shopId }: Owner): string {
  return `${tenantId}/${shopId}`;
}

/** Returns the storage key to which a value of a shop is bound. */
export function associatedDataOf(shop: Owner, hash: SealedHash, field: string): string {
  return `${sealedOwner(shop)}/${hash}/${field}`;
}
