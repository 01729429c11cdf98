import { ERRORS } from '../contract/errors.ts';

/** The public message of each code; the console adds an explanation to those that callers complain about. */
export const ERROR_MESSAGES: { readonly [code: string]: string } = Object.fromEntries(
  Object.values(ERRORS).map(({ code, message }) => [code, message]),
);
