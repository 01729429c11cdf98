import { proto } from '@whiskeysockets/baileys';
import type { Companion } from '../linking/companions.ts';
import { sendOwn } from '../linking/history.ts';
import type { Network } from '../network.ts';
import type { PhoneCopy } from '../unstored-state.ts';

const { PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE } = proto.Message.ProtocolMessage.Type;
const { PLACEHOLDER_MESSAGE_RESEND } = proto.Message.PeerDataOperationRequestType;

/**
 * Answers a companion that asked its phone for messages that it could not read. The phone sends its copies after a
 * delay.
 */
export function answerPeerRequest(
  network: Network,
  companion: Companion,
  requestId: string,
  message: proto.IMessage,
): void {
  // The client wraps it like a copy of a message that it sent to others.
  const askedMessage = message.deviceSentMessage?.message ?? message;
  const request = askedMessage.protocolMessage?.peerDataOperationRequestMessage;
  if (request?.peerDataOperationRequestType !== PLACEHOLDER_MESSAGE_RESEND) return;
  const copies = (request.placeholderMessageResendRequest ?? []).flatMap(({ messageKey }) => {
    const copy = network.copies.find(companion.phone, messageKey?.id ?? '');
    return copy === undefined ? [] : [copy];
  });
  network.log({ event: 'phone asked', companion: companion.id, found: copies.length });
  const answer = answerOf(requestId, copies);
  network.clock.after(network.timings.phoneAnswerMs, () => {
    sendOwn(network, companion, answer).catch((error: unknown) =>
      network.log({ event: 'phone cannot answer', companion: companion.id, reason: String(error) }),
    );
  });
}

/** Returns the phone's copies. Senders have the addresses that the phone knows, and no others. */
function answerOf(stanzaId: string, copies: readonly PhoneCopy[]): proto.IMessage {
  return {
    protocolMessage: {
      type: PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: {
        peerDataOperationRequestType: PLACEHOLDER_MESSAGE_RESEND,
        stanzaId,
        peerDataOperationResult: copies.map(({ id, from, plaintext, t }) => ({
          placeholderMessageResendResponse: {
            webMessageInfoBytes: proto.WebMessageInfo.encode({
              key: { remoteJid: from, fromMe: false, id },
              message: proto.Message.decode(plaintext),
              messageTimestamp: Number(t),
            }).finish(),
          },
        })),
      },
    },
  };
}
