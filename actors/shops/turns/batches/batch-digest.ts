import type { BatchAsked, BatchRecipient, RecipientsAsked } from '../../batch-operations.ts';
import type { NumberVault } from '../../state/number-vault.ts';

type Digests = Pick<NumberVault, 'digests'>;

/** Returns the digests of all fields of a call, the newest key's first, to compare a replay with its original. */
export function batchDigests(vault: Digests, asked: BatchAsked): readonly string[] {
  const { name, text = null, mediaUrl = null, mediaType, recipients, notBeforeMs = null } = asked;
  const { notAfterMs = null, quietHours, share, paused } = asked;
  const quiet = quietHours && [quietHours.from, quietHours.to, quietHours.timeZone];
  const content = [name, text, mediaUrl, mediaUrl === null ? null : mediaType, share, paused];
  const body = [...content, notBeforeMs, notAfterMs, quiet ?? null, recipients.map(recipientContent)];
  return vault.digests('batch', JSON.stringify(body));
}

/** Returns the digests of added recipients. */
export function recipientDigests(vault: Digests, { recipients }: RecipientsAsked): readonly string[] {
  return vault.digests('batch recipients', JSON.stringify(recipients.map(recipientContent)));
}

/** The order in which a caller names fields does not matter. */
function recipientContent({ to, fields = {}, idempotencyKey }: BatchRecipient): readonly unknown[] {
  const sorted = Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1));
  return [to, sorted, idempotencyKey ?? null];
}
