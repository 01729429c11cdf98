import { NETWORK_IDS_FROM } from '../../../policy/recipient.ts';

/**
 * Returns the field of a shop's aliases for a recipient as the ledger counts them. Builds before the one that links
 * network ids look up `+` fields of all recipients and load no shop if one is no number, so ids have another sign.
 */
export function aliasField(recipient: number): string {
  return `${recipient < NETWORK_IDS_FROM ? '+' : '#'}${recipient}`;
}
