import type { BatchStatus } from '../../../batch-status.ts';
import type {
  BatchClass,
  BatchRecipient,
  BatchRefusal,
  BatchRequest,
  RecipientsRequest,
  RefusedRecipient,
} from '../../batch-operations.ts';
import { digestedContent } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readBatches, readKeyedBatch } from '../../reading/batch-reading.ts';
import { personClassOf, type RecipientFacts, readRecipient } from '../../reading/recipient-facts.ts';
import { type BatchContent, batchKey, firstCallField, numberField } from '../../state/batches.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';

/** A recipient of a batch, with the known facts about them. */
export interface KnownRecipient {
  readonly recipient: BatchRecipient;
  /** The reason of a refusal. Undefined if they are taken. */
  readonly refusal: BatchRefusal | undefined;
  readonly recipientClass: BatchClass;
  /** The batch has them already. */
  readonly isThere: boolean;
}

/** The facts for a turn about a batch. */
export interface BatchFacts {
  /** The batch that the idempotency key made, and the result of that call. */
  readonly original?: { readonly id: string } & FirstCall;
  /** The answer to the first call that added recipients with this key. */
  readonly added?: FirstCall | undefined;
  /** The digests of this call's content, if it has an idempotency key. */
  readonly digests?: readonly string[];
  readonly recipients?: readonly KnownRecipient[];
  /** The content that the recipients get. */
  readonly content?: Pick<BatchContent, 'text' | 'mediaUrl'>;
  /** The state in which the batch ended; undefined: it has not, or never was. */
  readonly endedAs?: BatchStatus | undefined;
}

/** The stored answer to the first call of an idempotency key. */
export interface FirstCall {
  readonly refused: readonly RefusedRecipient[];
  /** The digest of its content. */
  readonly digest?: string | undefined;
}

/** Reads the facts for the turn on a command about a batch. */
export async function readBatchFacts(
  state: ShopState,
  command: CommandOf<'create_batch' | 'add_recipients' | 'steer_batch'>,
  sources: FactSources,
): Promise<BatchFacts> {
  if (command.type === 'create_batch') return await readOfNew(state, command.asked, sources);
  const { batchId } = command;
  const [storedBatch] = await readBatches([batchId], { keys: state.keys, store: sources.store });
  if (storedBatch === undefined) return {};
  const end = { endedAs: storedBatch.ended?.status };
  if (command.type === 'steer_batch') return end;
  const { recipients, idempotencyKey } = command.asked;
  const added = idempotencyKey === undefined ? undefined : firstCallField(idempotencyKey);
  const key = batchKey(state.keys, batchId);
  const fields = recipients.map(({ to }) => numberField(to));
  const [[first, ...places]] = await sources.store.read([['HMGET', key, added ?? '', ...fields]]);
  const digests = added === undefined ? [] : recipientDigests(sources.vault, command.asked);
  if (first != null) return { ...end, digests, added: JSON.parse(first) as FirstCall };
  const isThere = (index: number): boolean => places[index] != null;
  const knownRecipients = await readRecipients(state, { recipients, isThere }, sources);
  return { ...end, digests, recipients: knownRecipients, content: storedBatch.content };
}

async function readOfNew(state: ShopState, request: BatchRequest, sources: FactSources): Promise<BatchFacts> {
  const { recipients, idempotencyKey } = request;
  const reading = { keys: state.keys, ...sources };
  const digests = idempotencyKey === undefined ? [] : batchDigests(sources.vault, request);
  const id = idempotencyKey === undefined ? undefined : await readKeyedBatch(idempotencyKey, reading);
  const [storedBatch] = id === undefined ? [] : await readBatches([id], reading);
  if (id !== undefined && storedBatch !== undefined) {
    const { refused, content } = storedBatch;
    return { digests, original: { id, refused, digest: content.digest } };
  }
  return { digests, recipients: await readRecipients(state, { recipients, isThere: () => false }, sources) };
}

/** The lookups for all recipients of a call go in one round trip, and those for their aliases in a second one. */
async function readRecipients(
  state: ShopState,
  request: {
    readonly recipients: readonly BatchRecipient[];
    readonly isThere: (index: number) => boolean;
  },
  { store, nowMs }: FactSources,
): Promise<KnownRecipient[]> {
  const recipientFacts = await Promise.all(
    request.recipients.map(({ to }) => readRecipient(state, to, store)),
  );
  return recipientFacts.map((facts, index) => ({
    recipient: request.recipients[index] as BatchRecipient,
    ...classAndRefusal(facts, nowMs),
    isThere: request.isThere(index),
  }));
}

/** Returns the class in which the batch counts a recipient, and the refusal if it may not write to them. */
function classAndRefusal(
  facts: RecipientFacts,
  nowMs: number,
): Pick<KnownRecipient, 'refusal' | 'recipientClass'> {
  const { writer } = facts;
  if (writer?.optedOut === true) return { refusal: 'RECIPIENT_OPTED_OUT', recipientClass: 'known' };
  const personClass = personClassOf(facts, nowMs);
  return {
    refusal: personClass === 'cold' ? 'COLD_RECIPIENT' : undefined,
    recipientClass: personClass === 'declared' ? 'declared' : writer === undefined ? 'unheard' : 'known',
  };
}

/** Returns the digests of all fields of a call, the newest key's first, to compare a replay with its original. */
function batchDigests(vault: FactSources['vault'], request: BatchRequest): readonly string[] {
  const { name, recipients, notBeforeMs = null } = request;
  const { notAfterMs = null, quietHours, share, paused } = request;
  const quietFields = quietHours && [quietHours.from, quietHours.to, quietHours.timeZone];
  const content = [name, ...digestedContent(request), share, paused];
  const body = [...content, notBeforeMs, notAfterMs, quietFields ?? null, recipients.map(recipientContent)];
  return vault.digests('batch', JSON.stringify(body));
}

/** Returns the digests of added recipients. */
function recipientDigests(vault: FactSources['vault'], { recipients }: RecipientsRequest): readonly string[] {
  return vault.digests('batch recipients', JSON.stringify(recipients.map(recipientContent)));
}

/** The order in which a caller names fields does not matter. */
function recipientContent({ to, fields = {}, idempotencyKey }: BatchRecipient): readonly unknown[] {
  const sortedFields = Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1));
  return [to, sortedFields, idempotencyKey ?? null];
}
