/** The stanzas about a number's limits: notifications, and answers to clients. README.md names the sources. */
import { type BinaryNode, getBinaryNodeChild } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { Companion } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { addressOf, type PhoneNumber } from '../numbers.ts';
import { phoneAddress, SERVER_ADDRESS } from '../socket/addresses.ts';
import { iqError, iqResult, node } from '../socket/stanzas.ts';
import type { ContactToken, NewChatQuota, Timelock } from './number-limits.ts';

/** The ids under which the web client stores its two queries. */
const TIMELOCK_QUERY = '23983697327930364';
const QUOTA_QUERY = '24503548349331633';

/** Notifies the number's clients of its restriction, or of its end. */
export function announceTimelock(network: Network, phone: string): void {
  const timelock = timelockFields(network.limits.timelock(phone));
  announce(network, phone, {
    operation: 'NotificationUserReachoutTimelockUpdate',
    data: { xwa2_notify_account_reachout_timelock: timelock },
  });
}

/** Notifies the number's clients how much of its quota is used. */
export function announceQuota(network: Network, phone: string): void {
  const quota = quotaFields(network, network.limits.quota(phone));
  announce(network, phone, {
    operation: 'MessageCappingInfoNotification',
    data: { xwa2_notify_new_chat_messages_capping_info_update: quota },
  });
}

/** Answers one of the two queries. All others of that name space are unknown here. */
export function answerMex(network: Network, companion: Companion, iq: BinaryNode): BinaryNode {
  const id = getBinaryNodeChild(iq, 'query')?.attrs.query_id ?? '';
  const { phone } = companion;
  const data = {
    [TIMELOCK_QUERY]: () => ({
      xwa2_fetch_account_reachout_timelock: timelockFields(network.limits.timelock(phone)),
    }),
    [QUOTA_QUERY]: () => ({
      xwa2_message_capping_info: quotaFields(network, network.limits.quota(phone)),
    }),
  }[id];
  if (data === undefined) return iqError(iq, 501, 'feature-not-implemented');
  network.log({ event: 'limits asked', query: id, companion: companion.id });
  return iqResult(iq, [node('result', {}, Buffer.from(JSON.stringify({ data: data() })))]);
}

/** Gives the number's clients the token of a contact that wrote to it. */
export function giveToken(
  network: Network,
  contact: PhoneNumber,
  companion: Companion,
  { bytes, at }: ContactToken,
): void {
  const ownAddress = phoneAddress(companion.phone);
  network.notices.add(
    companion.id,
    node(
      'notification',
      {
        type: 'privacy_token',
        from: addressOf(contact, 'pn'),
        sender_lid: addressOf(contact, 'lid'),
        id: network.newId(),
        t: stanzaTime(network.clock),
      },
      [
        node('tokens', {}, [
          node('token', { jid: ownAddress, t: String(at), type: 'trusted_contact' }, bytes),
        ]),
      ],
    ),
  );
}

function announce(
  network: Network,
  phone: string,
  { operation, data }: { readonly operation: string; readonly data: object },
): void {
  for (const companion of network.companions.of(phone)) {
    const attrs = { type: 'mex', from: SERVER_ADDRESS, id: network.newId(), t: stanzaTime(network.clock) };
    const update = node('update', { op_name: operation }, Buffer.from(JSON.stringify({ data })));
    network.notices.add(companion.id, node('notification', attrs, [update]));
  }
}

function timelockFields(timelock: Timelock | null): object {
  if (timelock === null) return { is_active: false, time_enforcement_ends: '0', enforcement_type: 'DEFAULT' };
  const { kind, endsAt } = timelock;
  return {
    is_active: true,
    enforcement_type: kind,
    ...(endsAt === null ? {} : { time_enforcement_ends: String(endsAt) }),
  };
}

function quotaFields(network: Network, quota: NewChatQuota | null): object {
  return {
    total_quota: quota?.total ?? -1,
    used_quota: quota?.used ?? 0,
    capping_status: quota?.status ?? 'NONE',
    ote_status: 'NOT_ELIGIBLE',
    mv_status: 'NOT_ELIGIBLE',
    ...(quota === null ? {} : { cycle_end_timestamp: String(quota.cycleEndsAt) }),
    server_sent_timestamp: stanzaTime(network.clock),
  };
}
