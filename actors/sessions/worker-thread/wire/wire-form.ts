import { createHash } from 'node:crypto';
import type { MessageRelayOptions, WASocket } from '@whiskeysockets/baileys';
import type { SendOrder } from '../../session-host.ts';
import { chatAddress, isLidAddress } from './chat-address.ts';
import { personOf } from './inbound-message.ts';

/** The style of text statuses: white on the network's own green, in its plain font (`ExtendedTextMessage.FontType`). */
export const TEXT_STATUS = { backgroundColor: '#128C7E', font: 0 } as const;

/**
 * Returns the audience of a status, by the network's own ids. The network refuses (479) an audience that names a
 * number, or that lacks the author's own entry (WhiskeySockets/Baileys, issue 2794; oxidezap/whatsapp-rust, pull 568).
 * A person without such an id is left out, and one who opted out under it while their number was not known.
 */
export async function statusAudience(
  { signalRepository, user }: WASocket,
  { audience = [], optedOutIds = [] }: Pick<SendOrder, 'audience' | 'optedOutIds'>,
): Promise<string[]> {
  const pairs = await signalRepository.lidMapping.getLIDsForPNs(audience.map(chatAddress));
  const lids = new Set((pairs ?? []).map(({ lid }) => personOf(lid)));
  for (const id of optedOutIds) lids.delete(id);
  if (user?.lid !== undefined && lids.size > 0) lids.add(personOf(user.lid));
  return [...lids];
}

/**
 * Returns the attributes of an order's stanza in addition to its ciphertexts. `to` is the number that the network knows
 * the recipient by, or the network's own id of a person without a known number.
 */
export function wireForm(
  { kind, to, chat }: Pick<SendOrder, 'kind' | 'to'> & { readonly chat: string },
  {
    audience,
    devicesHash,
  }: { readonly audience: readonly string[]; readonly devicesHash: string | undefined },
): Pick<MessageRelayOptions, 'statusJidList' | 'additionalNodes' | 'additionalAttributes'> {
  if (kind === 'status') {
    return {
      statusJidList: [...audience],
      additionalNodes: [{ tag: 'meta', attrs: { status_setting: 'contacts' } }],
    };
  }
  if (devicesHash !== undefined) return { additionalAttributes: { phash: devicesHash } };
  // Without it the owner's phone shows a second chat, or nothing (WhiskeySockets/Baileys, issue 2106). It is left out
  // if no number is known (vinikjkkj/zapo, `resolvePeerRecipientPn`).
  if (!isLidAddress(chat) || isLidAddress(to)) return {};
  return { additionalAttributes: { peer_recipient_pn: chatAddress(to) } };
}

/** Returns the id of a message to its recipient's new address: the network dropped the message under the first id. */
export function wireIdAfter(wireId: string): string {
  const digest = createHash('sha256').update(wireId).digest('hex').toUpperCase();
  return `3EB0${digest.slice(0, Math.max(1, wireId.length - 4))}`;
}
