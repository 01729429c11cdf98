// A file of its own, because the types of the console's pages come from it (tsconfig.json here).
import { ERRORS } from '../contract/errors.ts';

/** The public message of each code. The console adds an explanation to those that callers complain about. */
export const ERROR_MESSAGES: { readonly [code: string]: string } = Object.fromEntries(
  Object.values(ERRORS).map(({ code, message }) => [code, message]),
);
