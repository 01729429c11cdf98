/**
 * A number follows its tenant from shop to shop (docs/contract.md, A number and its shops). One shop at a time has it
 * connected. Its counts come with it, in the commit that connects the shop.
 */
import { encodeEntry } from '../../../../policy/ledger-entry.ts';
import { NO_LIMITS } from '../../../../policy/network-limits.ts';
import { partsOf } from '../../../../runtime/parts.ts';
import type { Write } from '../../../../runtime/store.ts';
import type { SessionEventOf } from '../../../sessions/session-events.ts';
import { tenantKeys } from '../../../tenants/tenant-keys.ts';
import { type ChannelContext, ownNumber, warmupPairedAtMs } from '../../machines/channel-context.ts';
import { dropArchiveKey } from '../../number-past/number-archive.ts';
import { isForgotten } from '../../number-past/number-past.ts';
import { numberUseWrite } from '../../number-past/number-use.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { channelState, pacingState } from '../../state/shop-state.ts';
import { stepChannel, stepPacing } from '../builder/step-machines.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { renameRecipients } from '../people/recipient-alias.ts';
import type { Inheritance, NumberFacts } from './number-facts.ts';

type ConnectedEvent = SessionEventOf<'session.connected'>;

/** Fields of a hash that one write sets. */
const PARTS_PER_WRITE = 1_000;

/**
 * Connects the shop with the number, or refuses it if another shop of the tenant has it. One commit has the channel
 * state with its phone, the shop's status, the number's shop and the owner's number (docs/contract.md, Channel states).
 */
export function takeNumber(builder: TurnBuilder, event: ConnectedEvent, facts: NumberFacts): void {
  const { phone, pairedAtMs } = event;
  const { connectedAt, inheritance, former, isOwn } = facts;
  if (connectedAt !== undefined) {
    refuse(builder, connectedAt);
    return;
  }
  const { context } = builder.state.channel;
  const { tenantId, shopId } = builder.state.shop;
  const warmupStarts = [
    inheritance?.warmupSinceMs,
    facts.warmupSinceMs,
    continuedWarmup(context, event, builder.nowMs),
  ];
  const warmupSinceMs = Math.min(pairedAtMs, ...warmupStarts.filter((sinceMs) => sinceMs != null));
  if (former !== undefined) {
    const { limits } = builder.state;
    const atMs = context.downSinceMs ?? builder.nowMs;
    const departure = { atMs, warmupSinceMs: warmupPairedAtMs(context), limits };
    builder.write(numberUseWrite(tenantId, former, { shopId, left: departure }));
  }
  if (isOwn !== true) builder.write(numberUseWrite(tenantId, phone, { shopId }));
  // Two shops that connect at once do not see each other before both have connected.
  if (isOwn !== true || context.asked === true) {
    builder.perform({ type: 'confirm_number', source: builder.state, phone });
  } else {
    builder.perform({ type: 'note_number', phone });
  }
  if (inheritance !== undefined) inherit(builder, inheritance);
  // The network limits a number, and not a shop.
  const limits = facts.limits ?? inheritance?.limits;
  if (limits !== undefined) builder.change({ limits });
  else if (ownNumber(context) !== phone) builder.change({ limits: NO_LIMITS });
  stepChannel(builder, {
    type: 'connected',
    phone,
    pairedAtMs,
    ...(warmupSinceMs < pairedAtMs ? { warmupSinceMs } : {}),
  });
  builder.write(['SET', tenantKeys(tenantId).ownerNumber, `+${phone}`, 'NX']);
  builder.perform({ type: 'owner_number', phone: `+${phone}` });
}

/** The shop `by` has the number as well, and had it first. */
export function yieldNumber(builder: TurnBuilder, { phone, by }: CommandOf<'number_taken'>): void {
  const { channel, shop } = builder.state;
  if (channelState(builder.state) !== 'connected' || channel.context.phone !== phone) return;
  builder.write(numberUseWrite(shop.tenantId, phone, { shopId: by }));
  refuse(builder, by);
}

function refuse(builder: TurnBuilder, otherShopId: string): void {
  stepChannel(builder, {
    type: 'refused',
    nowMs: builder.nowMs,
    detail: `it is connected at shop ${otherShopId}`,
  });
}

/** Returns the start of the warm-up. It continues over reconnections, and over a new pairing within 30 days. */
function continuedWarmup(context: ChannelContext, event: ConnectedEvent, nowMs: number): number | null {
  if (ownNumber(context) !== event.phone) return null;
  const isSamePairing = context.pairedAtMs === event.pairedAtMs;
  return isSamePairing || !isForgotten(context.downSinceMs ?? nowMs, nowMs)
    ? warmupPairedAtMs(context)
    : null;
}

function inherit(builder: TurnBuilder, inheritance: Inheritance): void {
  const { keys, acceptedList } = builder.state;
  const { entries, ledger, writers, aliases, archivedAt } = inheritance;
  if (archivedAt !== undefined) builder.write(...dropArchiveKey(builder.state.shop.tenantId, archivedAt));
  // Even if it has no new entries: counts under a network id may have moved to its number.
  builder.change({ ledger });
  renameRecipients(builder, aliases);
  if (entries.length > 0) {
    builder.write(['RPUSH', keys.accepted, ...entries.map(encodeEntry)]);
    builder.onCommitted(() => {
      acceptedList.next += entries.length;
    });
  }
  builder.write(
    ...hashWrites(
      keys.writers,
      [...writers].map(([address, writer]) => [address, JSON.stringify(writer)]),
    ),
    ...hashWrites(keys.aliases, [...aliases]),
  );
  keepPause(builder, inheritance);
}

/** The network's rate signal is about the number, so the later of two ends applies. */
function keepPause(builder: TurnBuilder, { pausedUntilMs }: Inheritance): void {
  const { nowMs, state } = builder;
  const { context } = state.pacing;
  const ownMs = pacingState(state) === 'paused' ? (context.untilMs ?? 0) : 0;
  if (pausedUntilMs !== null && pausedUntilMs > Math.max(ownMs, nowMs)) {
    stepPacing(builder, {
      type: 'rate_limited_before',
      pauseUntilMs: pausedUntilMs,
      pausedForMs: pausedUntilMs - nowMs,
    });
  }
}

function hashWrites(key: string, fields: readonly (readonly [string, string])[]): Write[] {
  return [...partsOf(fields, PARTS_PER_WRITE)].map((part) => ['HSET', key, ...part.flat()]);
}
