/** Replies about messages from people (docs/contract.md, Resources). */
import * as v from 'valibot';
import { INBOUND_KINDS } from '../inbound-content.ts';
import { count, id, instant } from './reply-fields.ts';

/** A message that a person wrote to a shop, with the data of its event. */
export const inboundMessage = v.strictObject({
  id,
  shopId: id,
  from: v.pipe(
    v.nullable(v.string()),
    v.description('With its plus. null if the chat network gives no number.'),
  ),
  fromId: v.pipe(
    v.string(),
    v.description(
      'The person who wrote. The id is the same in all shops of the account, whichever address the person writes from.',
    ),
  ),
  name: v.pipe(v.nullable(v.string()), v.description('The name that the person chose.')),
  at: v.pipe(instant, v.description('When it was written, according to the chat network, in whole seconds.')),
  kind: v.pipe(v.picklist(INBOUND_KINDS), v.description('More values may be added.')),
  text: v.pipe(
    v.nullable(v.string()),
    v.description('null if the account does not receive texts, or if the message has none.'),
  ),
  replyTo: v.pipe(
    v.nullable(id),
    v.description(
      'The message of the shop that it quotes or reacts to. Null if that message was sent more than two days ago.',
    ),
  ),
  media: v.nullable(
    v.strictObject({
      type: v.nullable(v.string()),
      size: v.nullable(count),
      fileName: v.nullable(v.string()),
      sha256: v.pipe(v.nullable(v.string()), v.description("The file's SHA-256, in hexadecimal digits.")),
    }),
  ),
});

/** The message in its present state. */
export const inboundRecord = v.strictObject({
  ...inboundMessage.entries,
  readAt: v.pipe(v.nullable(instant), v.description('When it was marked as read. Null: it was not.')),
});
