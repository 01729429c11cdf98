import { type EgressAddress, egressText, readEgressAddress, shownEgress } from '../egress-address.ts';
import { sealedOwner } from './associated-data.ts';
import { type CredentialCipher, Unreadable } from './credential-cipher.ts';
import type { SessionAddress } from './session-host.ts';

type Owner = Pick<SessionAddress, 'tenantId' | 'shopId'>;

/** A shop's egress as it is stored, and as it is shown. */
export interface ShopEgress {
  /** Base64. */
  readonly sealed: string;
  /** Without the password. Null if no configured key opens it; the shop then cannot connect. */
  readonly shown: string | null;
}

/** Seals the addresses of shops' proxies, because they contain passwords. */
export interface EgressVault {
  seal(shop: Owner, address: EgressAddress): ShopEgress;
  /** Throws `Unreadable`. */
  open(shop: Owner, sealedText: string): EgressAddress;
  /** Returns the same egress, sealed with the newest of the keys that are configured now if one of them opens it. */
  renewed(shop: Owner, sealedText: string): ShopEgress;
}

/** Returns an egress cipher that uses the ciphers of shops' credentials (`credentialCiphers`). */
export function egressVault(ciphers: (owner: string) => CredentialCipher): EgressVault {
  const cipherOf = (shop: Owner): CredentialCipher => ciphers(sealedOwner(shop));
  const associatedDataOf = (shop: Owner): string => `${sealedOwner(shop)}/egress`;
  const vault: EgressVault = {
    seal(shop, address) {
      const bytes = cipherOf(shop).seal(associatedDataOf(shop), Buffer.from(egressText(address)));
      return { sealed: bytes.toString('base64'), shown: shownEgress(address) };
    },
    open(shop, sealedText) {
      const plaintext = cipherOf(shop).open(associatedDataOf(shop), Buffer.from(sealedText, 'base64'));
      const address = readEgressAddress(plaintext.toString());
      if (address === undefined) throw new Unreadable();
      return address;
    },
    renewed(shop, sealedText) {
      try {
        const address = vault.open(shop, sealedText);
        const isCurrent = cipherOf(shop).isCurrent(Buffer.from(sealedText, 'base64'));
        return isCurrent ? { sealed: sealedText, shown: shownEgress(address) } : vault.seal(shop, address);
      } catch (error) {
        if (error instanceof Unreadable) return { sealed: sealedText, shown: null };
        throw error;
      }
    },
  };
  return vault;
}
