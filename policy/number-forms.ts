import { isNetworkId, isPhoneNumber, networkIdAsInteger, phoneAsInteger } from './recipient.ts';

/** One country whose mobile numbers are written with and without a redundant digit. */
interface NumberFormRule {
  readonly countryCode: string;
  readonly withDigit: RegExp;
  readonly withoutDigit: RegExp;
  /** The number in each form. `$1` and `$2` are the groups of the expressions above. */
  readonly long: string;
  readonly short: string;
}

/**
 * Countries that changed how their mobile numbers are dialled. Older accounts keep their old form on the chat network.
 *
 * Brazil put a 9 before mobile numbers, which began with 6 to 9 (Anatel, 2012 to 2016). Mexico dropped the 1 between
 * country code and number (IFT, 2019). Argentina's mobile numbers have a 9 in international dialling, and its area
 * codes begin with 1 to 3.
 */
const COUNTRIES: readonly NumberFormRule[] = [
  {
    countryCode: '+55',
    withDigit: /^\+55([1-9]{2})9([6-9]\d{7})$/,
    withoutDigit: /^\+55([1-9]{2})([6-9]\d{7})$/,
    long: '+55$19$2',
    short: '+55$1$2',
  },
  {
    countryCode: '+52',
    withDigit: /^\+521([2-9]\d{9})$/,
    withoutDigit: /^\+52([2-9]\d{9})$/,
    long: '+521$1',
    short: '+52$1',
  },
  {
    countryCode: '+54',
    withDigit: /^\+549([1-3]\d{9})$/,
    withoutDigit: /^\+54([1-3]\d{9})$/,
    long: '+549$1',
    short: '+54$1',
  },
];

/**
 * Returns every form in which a number may be written, itself first. Mobile numbers of Brazil, Mexico and Argentina
 * have two, all others one. All forms reach the same person. A text that is not a number in E.164 shape has itself as
 * the only form.
 */
export function numberForms(phone: string): readonly string[] {
  const country = countryOfTwoForms(phone);
  if (country === undefined) return [phone];
  const { withDigit, withoutDigit, long, short } = country;
  if (withDigit.test(phone)) return [phone, phone.replace(withDigit, short)];
  if (withoutDigit.test(phone)) return [phone, phone.replace(withoutDigit, long)];
  return [phone];
}

/** True if a number may have a second form: it belongs to a country with two. */
export function hasTwoForms(phone: string): boolean {
  return countryOfTwoForms(phone) !== undefined;
}

/** Runs twice a send, hence the plain loop. */
function countryOfTwoForms(phone: string): NumberFormRule | undefined {
  for (let index = 0; index < COUNTRIES.length; index += 1) {
    if (phone.startsWith((COUNTRIES[index] as NumberFormRule).countryCode)) return COUNTRIES[index];
  }
  return undefined;
}

/**
 * Returns the integer under which a recipient counts: the number without its optional digit, so both forms meet one
 * recipient's limits. The network's own ids become integers that no number has. Throws on any other text.
 */
export function recipientKey(phone: string): number {
  if (isNetworkId(phone)) return networkIdAsInteger(phone);
  if (countryOfTwoForms(phone) === undefined) return phoneAsInteger(phone);
  return numberForms(phone).reduce(
    (key, form) => Math.min(key, phoneAsInteger(form)),
    Number.POSITIVE_INFINITY,
  );
}

/** True if both texts name one recipient: they are equal, or two forms of one number. */
export function isSameRecipient(left: string, right: string): boolean {
  if (left === right) return true;
  return isPhoneNumber(left) && isPhoneNumber(right) && recipientKey(left) === recipientKey(right);
}
