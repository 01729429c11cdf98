import { textCipher } from '../../runtime/text-cipher.ts';

const SECRETS = [Buffer.alloc(32, 1)];

/** The ciphers of a node under test. Nodes of all processes have the same secret. */
export const TEST_CIPHERS = {
  deadLetterCipher: textCipher(SECRETS, 'dead-letters'),
  linkCipher: textCipher(SECRETS, 'node-link'),
};
