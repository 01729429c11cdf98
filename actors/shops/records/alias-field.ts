import { NETWORK_IDS_FROM } from '../../../policy/recipient.ts';

/**
 * Returns the field of a shop's aliases for a recipient as the ledger counts them. An alias is the number by which the
 * network knows the recipient. The caller wrote another form, or the shop first knew only an id. A network id has
 * another sign than a number. 0.2.0 looks up the `+` field of each recipient, and loads no shop that has one for an id.
 */
export function aliasField(recipient: number): string {
  return `${recipient < NETWORK_IDS_FROM ? '+' : '#'}${recipient}`;
}
