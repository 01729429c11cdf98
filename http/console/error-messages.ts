import { ERRORS } from '../contract/errors.ts';

/** What callers are told with each code; the console has more to say of those that complaints are made of. */
export const ERROR_MESSAGES: { readonly [code: string]: string } = Object.fromEntries(
  Object.values(ERRORS).map(({ code, message }) => [code, message]),
);
