import { textCipher } from '../text-cipher.ts';
import type { LinkTopic } from './link-topics.ts';

/**
 * The link with every question and answer sealed (AES-256-GCM), so that whoever hears Redis' channels reads nothing and
 * whoever may publish there asks nothing. The keys are derived from `secrets`, which all nodes share: the first seals,
 * all open, so that a new secret is added behind the old one at every node before it goes first. A question that no key
 * opens is refused and never reaches the handler; a copy of a sealed question can be asked again by who recorded it.
 */
export function sealedLink(link: LinkTopic, secrets: readonly Buffer[]): LinkTopic {
  const { seal, open } = textCipher(secrets, 'node-link');
  return {
    call: async (target, payload, timeoutMs) =>
      open('answer', await link.call(target, seal('ask', payload), timeoutMs)),
    serve(handler) {
      link.serve(async (sealed) => seal('answer', await handler(open('ask', sealed))));
    },
  };
}
