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
 * Links the network's own id of a person (LID) to their number. From now on their messages, counts and opt-out are
 * those of the number. If no number is known, the id is stored as its own alias. Then a later number is linked.
 */
export function linkLid(builder: TurnBuilder, lid: string, person: LinkedPerson): void {
  const { writtenBy, writer } = person;
  if (!isPhoneNumber(writtenBy)) {
    builder.write(['HSET', builder.state.keys.aliases, lid, writtenBy]);
    return;
  }
  rememberAlias(builder, lid, writtenBy);
  if (writer !== undefined) keepWriter(builder, { writtenBy, wroteAs: lid }, writer);
}

/**
 * Stores a person's last message under the address they wrote from, and removes it under the other one. The other one
 * is another form of their number, or the network's own id. Both are one person, and the last message counts
 * (docs/contract.md, Numbers).
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
