import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { LinkTopic } from './link-topics.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The link with every question and answer sealed (AES-256-GCM), so that whoever hears Redis' channels reads nothing and
 * whoever may publish there asks nothing. The keys are derived from `secrets`, which all nodes share: the first seals,
 * all open, so that a new secret is added behind the old one at every node before it goes first. A question that no key
 * opens is refused and never reaches the handler; a copy of a sealed question can be asked again by who recorded it.
 */
export function sealedLink(link: LinkTopic, secrets: readonly Buffer[]): LinkTopic {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'node-link', 32)));
  const [newest] = keys;
  if (newest === undefined) throw new Error('a sealed link needs a secret');
  return {
    call: async (target, payload, timeoutMs) =>
      open(keys, 'answer', await link.call(target, seal(newest, 'ask', payload), timeoutMs)),
    serve(handler) {
      link.serve(async (sealed) => seal(newest, 'answer', await handler(open(keys, 'ask', sealed))));
    },
  };
}

function seal(key: Buffer, use: 'ask' | 'answer', plain: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(use));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
}

/** Throws when no key opens it. */
function open(keys: readonly Buffer[], use: 'ask' | 'answer', sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  for (const key of keys) {
    try {
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(use)).setAuthTag(tag);
      const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([body, decipher.final()]).toString('utf8');
    } catch {
      // Another key's, or nobody's.
    }
  }
  throw new Error('A message of another node was sealed with a key that is not ours');
}
