import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type MediaConnInfo,
  S_WHATSAPP_NET,
  type WASocket,
} from '@whiskeysockets/baileys';
import { NoAnswer } from '../../no-answer.ts';

/** Asks for the network's hosts of attachments, and returns the known ones while they are valid. */
export type MediaHosts = (isRepeated?: boolean) => Promise<MediaConnInfo>;

const QUESTION: BinaryNode = {
  tag: 'iq',
  attrs: { type: 'set', xmlns: 'w:m', to: S_WHATSAPP_NET },
  content: [{ tag: 'media_conn', attrs: {} }],
};

/**
 * Replaces the client's `refreshMediaConn`. That one keeps a question that failed: no attachment would be sent or read
 * until the session opens again.
 */
export function mediaHosts({ query }: Pick<WASocket, 'query'>, nowMs: () => number): MediaHosts {
  let knownHosts: MediaConnInfo | undefined;
  let asking: Promise<MediaConnInfo> | undefined;
  const ask = async (): Promise<MediaConnInfo> => {
    const reply = getBinaryNodeChild(await query(QUESTION), 'media_conn');
    if (reply === undefined) throw new NoAnswer('the network named no hosts of attachments');
    const hosts = getBinaryNodeChildren(reply, 'host').map(({ attrs }) => ({
      hostname: attrs.hostname ?? '',
      maxContentLengthBytes: Number(attrs.maxContentLengthBytes),
    }));
    knownHosts = {
      hosts,
      auth: reply.attrs.auth ?? '',
      ttl: Number(reply.attrs.ttl),
      fetchDate: new Date(nowMs()),
    };
    return knownHosts;
  };
  return async (isRepeated = false) => {
    const isValid =
      knownHosts !== undefined && nowMs() - knownHosts.fetchDate.getTime() <= knownHosts.ttl * 1_000;
    if (knownHosts !== undefined && isValid && !isRepeated) return knownHosts;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
