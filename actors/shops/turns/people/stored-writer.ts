import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { Writer } from '../../records/writer.ts';
import { addressee } from '../../state/shop-state.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';

/**
 * The recipient of the message in progress wrote before, while the network sent no number. From now on their messages
 * are stored under their number.
 */
export function linkLid(builder: TurnBuilder, lid: string, writer: Writer | undefined): void {
  const { keys, currentMessage } = builder.state;
  if (currentMessage === undefined || writer === undefined) return;
  const number = addressee(currentMessage);
  // The message replies to a person without a known number.
  if (!isPhoneNumber(number)) return;
  builder.write(
    ['HSET', keys.aliases, lid, number],
    ['HSET', keys.writers, number, JSON.stringify(writer)],
    ['HDEL', keys.writers, lid],
  );
}

/**
 * Stores a person's last message under the address they wrote from, and removes it under the other form of their
 * number. Both forms are one person, and the last message counts (docs/contract.md, Numbers).
 */
export function keepWriter(
  builder: TurnBuilder,
  { writtenBy, wroteAs }: { readonly writtenBy: string; readonly wroteAs?: string | undefined },
  writer: Writer,
): void {
  const { writers } = builder.state.keys;
  builder.write(['HSET', writers, writtenBy, JSON.stringify(writer)]);
  if (wroteAs !== undefined) builder.write(['HDEL', writers, wroteAs]);
}
