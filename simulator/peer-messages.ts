import { proto } from '@whiskeysockets/baileys';
import type { Companion } from './companions.ts';
import { sendOwn } from './history.ts';
import type { Network } from './network.ts';
import type { PhoneCopy } from './phone-copies.ts';

const { PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE } = proto.Message.ProtocolMessage.Type;
const { PLACEHOLDER_MESSAGE_RESEND } = proto.Message.PeerDataOperationRequestType;

/** A companion asked its phone for messages that it could not read: the phone answers with its copies, after a while. */
export function answerPeerRequest(
  network: Network,
  companion: Companion,
  requestId: string,
  message: proto.IMessage,
): void {
  // The client wraps it like a copy of what it sent to others.
  const asked = message.deviceSentMessage?.message ?? message;
  const request = asked.protocolMessage?.peerDataOperationRequestMessage;
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

/** Senders are named as the phone knows them; it says nothing of other addresses of theirs. */
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
