import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { Writer } from '../../records/writer.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { rememberAlias } from './recipient-alias.ts';

/** A person by the address under which they are stored, with their last message under any address. */
interface LinkedPerson {
  readonly writtenBy: string;
  readonly writer?: Writer | undefined;
}

/**
 * Links the network's own id of a person (LID) to their number: they wrote before, while the network sent no number. From
 * now on their messages, counts and opt-out are stored under the number. Without a number, stores that the shop knows
 * them by the id, so that a number that the network sends later is linked.
 */
export function linkLid(builder: TurnBuilder, lid: string, person: LinkedPerson): void {
  const { keys } = builder.state;
  const { writtenBy, writer } = person;
  if (!isPhoneNumber(writtenBy)) {
    builder.write(['HSET', keys.aliases, lid, writtenBy]);
    return;
  }
  rememberAlias(builder, lid, writtenBy);
  if (writer === undefined) return;
  builder.write(['HSET', keys.writers, writtenBy, JSON.stringify(writer)], ['HDEL', keys.writers, lid]);
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
