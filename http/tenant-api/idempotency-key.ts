import * as v from 'valibot';
import { done, failed, type Outcome } from '../../actors/failure.ts';
import { text } from '../contract/fields.ts';
import { problem } from '../contract/validation.ts';

/** The field of a body that has the key. */
export const idempotencyKey = v.optional(text({ min: 1, max: 128 }));

const TWO_KEYS = failed('VALIDATION_ERROR', {
  fields: [problem('idempotencyKey', 'differs from the header Idempotency-Key')],
});

/** Returns the key of a call, from its body or its header. Undefined if it has none. Fails if the two differ. */
export function idempotencyKeyOf(request: {
  readonly body: { readonly idempotencyKey?: string | undefined };
  readonly idempotencyKey: string | undefined;
}): Outcome<string | undefined, 'VALIDATION_ERROR'> {
  const { body, idempotencyKey: ofHeader } = request;
  const key = body.idempotencyKey ?? ofHeader;
  return ofHeader !== undefined && key !== ofHeader ? TWO_KEYS : done(key);
}
