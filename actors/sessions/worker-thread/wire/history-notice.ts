import { type BinaryNode, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { isOwnPhone } from './phone-answer.ts';

const { HistorySyncType } = proto.HistorySync;

/** The parts that have ids of contacts or tokens. */
const READ_PARTS: ReadonlySet<unknown> = new Set([
  HistorySyncType.INITIAL_BOOTSTRAP,
  HistorySyncType.RECENT,
  HistorySyncType.NON_BLOCKING_DATA,
]);

/**
 * Returns the phone's notice of a part of its history. Undefined for another message, or a part that we do not read.
 */
export type HistoryNotice = proto.Message.IHistorySyncNotification;

/** Returns the notice of a part of the history with facts to read, if the shop's own phone sent one. */
export function historyNoticeOf(
  stanza: BinaryNode,
  message: proto.IMessage,
  own: readonly string[],
): HistoryNotice | undefined {
  if (!isOwnPhone(stanza.attrs.from ?? '', own)) return undefined;
  const said = message.deviceSentMessage?.message ?? message;
  const notice = normalizeMessageContent(said)?.protocolMessage?.historySyncNotification;
  return notice == null || !READ_PARTS.has(notice.syncType) ? undefined : notice;
}
