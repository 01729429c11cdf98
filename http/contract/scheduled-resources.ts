import * as v from 'valibot';
import { id, instant } from './resources.ts';

/** A scheduled send. */
export const scheduledSend = v.strictObject({
  id,
  shopId: id,
  status: v.picklist(['scheduled', 'accepted', 'refused', 'cancelled']),
  sendAt: instant,
  notAfter: v.pipe(instant, v.description('It is not tried after this.')),
  to: v.string(),
  text: v.pipe(v.nullable(v.string()), v.description('null as well once it has ended: its message has it.')),
  mediaUrl: v.nullable(v.string()),
  mediaType: v.nullable(v.picklist(['image', 'video', 'document'])),
  idempotencyKey: v.nullable(v.string()),
  createdAt: instant,
  messageId: v.pipe(v.nullable(id), v.description('The message that it became.')),
  code: v.pipe(v.nullable(v.string()), v.description('Why it became none.')),
});
