// A file of its own, because the types of the console's pages come from it (tsconfig.json here).
import { ERRORS } from '../contract/errors.ts';

/** A public message of each code: the last one if several failures have the code. The console explains some better. */
export const ERROR_MESSAGES: { readonly [code: string]: string } = Object.fromEntries(
  Object.values(ERRORS).map(({ code, message }) => [code, message]),
);
