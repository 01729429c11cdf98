import { rememberLast } from '../runtime/memoize.ts';

/** A phone number in E.164 shape, after docs/contract.md, Numbers. */
export const PHONE_NUMBER = /^\+[1-9]\d{6,14}$/;
/** A group identifier: a name and the group suffix `@g.us`. Only the session knows if the group exists. */
export const GROUP_ID = /^[0-9A-Za-z._-]{1,64}@g\.us$/;

/**
 * True for a number in E.164 shape: a plus sign, then 7 to 15 digits that do not start with 0 (docs/contract.md,
 * Numbers). A send runs this five times.
 */
export const isPhoneNumber = rememberLast((text: string): boolean => PHONE_NUMBER.test(text));

/** True for a group identifier: a name and the group suffix `@g.us` (docs/contract.md, Numbers). */
export function isGroupId(text: string): boolean {
  return GROUP_ID.test(text);
}

/** The network's own id of a person (LID). The person's number may be unknown. */
const NETWORK_ID = /^\d{1,20}@lid$/;

/** True for the network's own id of a person. */
export function isNetworkId(text: string): boolean {
  return NETWORK_ID.test(text);
}

/** True for a text that names one person: a number, or the network's own id. */
export function isPerson(text: string): boolean {
  return isPhoneNumber(text) || isNetworkId(text);
}

/** Above every number of 15 digits, and low enough that a double still represents each exactly. */
export const NETWORK_IDS_FROM = 10 ** 15;
const NETWORK_IDS = 8n * 10n ** 15n;

/** Returns the network's own id as an integer that no number is. */
export function networkIdAsInteger(id: string): number {
  return NETWORK_IDS_FROM + Number(BigInt(id.slice(0, id.indexOf('@'))) % NETWORK_IDS);
}

/**
 * Returns the number as an integer. E.164's 15 digits fit the 53 bits of a double and none starts with 0, so two
 * recipients never collide. Throws on anything that is not a phone number.
 */
export function phoneAsInteger(phone: string): number {
  if (!isPhoneNumber(phone))
    throw new TypeError('a 1:1 recipient must be in E.164 shape before the policy sees it');
  // `Number` accepts the plus sign.
  return Number(phone);
}
