/**
 * Reads the facts about a person in every form of their number. A form is the one a caller wrote, the other form in a
 * country with two, or the one the network reported. The network's own id of the person is a form, too.
 */
import { hasTwoForms, numberForms } from '../../../policy/number-forms.ts';
import { isNetworkId, isPhoneNumber } from '../../../policy/recipient.ts';
import { type DeclarationFact, type PersonClass, personClassAt } from '../../../policy/recipient-class.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Lookup, Store } from '../../../runtime/store.ts';
import {
  type ContactRecord,
  declarationFact,
  decodeContact,
  laterContact,
} from '../../tenants/contact-record.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';
import type { MessageBody, StoredMessage } from '../records/message-record.ts';
import { type ShopKeys, shopAddress, shopKeys } from '../records/shop-keys.ts';
import { decodeWriter, laterWriter, type Writer } from '../records/writer.ts';
import type { ShopState } from '../state/shop-state.ts';

/** The policy's facts about a recipient. */
export interface RecipientFacts {
  readonly isCustomer: boolean;
  readonly writer: Writer | undefined;
  readonly declaration: DeclarationFact | null;
  /** The number by which the network knows the recipient, if the caller wrote another. */
  readonly alias?: string;
}

/** The facts that a send is judged by. */
export interface RecipientAndOriginal extends RecipientFacts {
  /** The original of the same idempotency key. */
  readonly original?: StoredMessage | undefined;
}

/** The recipient's last message, if known. */
export type WriterFacts = Pick<RecipientFacts, 'writer' | 'alias'>;

/** A person's last message under any of their addresses. */
interface FoundWriter extends WriterFacts {
  /** The addresses under which a message is stored. */
  readonly storedUnder: readonly string[];
}

/** The shop whose writers are read. */
type WritersSource = Pick<ShopState, 'shard'> & { readonly keys: Pick<ShopKeys, 'writers' | 'aliases'> };

/** The shop whose writers are read, with the customers and declarations of its tenant. */
type PeopleSource = WritersSource & Pick<ShopState, 'people'>;

/** Reads the policy's facts about a recipient of any kind; none for a group. */
export function readAnyRecipient(
  state: PeopleSource,
  recipient: string,
  store: Store,
): MaybePromise<RecipientFacts> {
  if (isPhoneNumber(recipient)) return readRecipient(state, recipient, store);
  if (!isNetworkId(recipient)) return UNKNOWN_PERSON;
  return mapMaybePromise(readWriter(state, { to: recipient }, store), ({ storedUnder: _, ...facts }) => ({
    ...UNKNOWN_PERSON,
    ...facts,
  }));
}

/** Reads all known facts about a number. */
export function readRecipient(
  source: PeopleSource,
  recipient: string,
  store: Store,
): MaybePromise<RecipientFacts> {
  return rememberedRecipient(source, recipient, store) ?? askForRecipient(source, recipient, store);
}

/**
 * Returns the facts about a number with one form and no alias, if memory has all of them. Most sends find them here.
 */
function rememberedRecipient(
  { shard, keys, people }: PeopleSource,
  recipient: string,
  store: Store,
): RecipientFacts | undefined {
  if (hasTwoForms(recipient) || store.known(shard, 'HGET', keys.aliases, recipient) !== null)
    return undefined;
  const customer = store.known(shard, 'SISMEMBER', people.customers, recipient);
  const writer = store.known(shard, 'HGET', keys.writers, recipient);
  const contact = store.known(shard, 'HGET', people.contacts, recipient);
  if (customer === undefined || writer === undefined || contact === undefined) return undefined;
  return {
    isCustomer: customer === 1,
    writer: decodeWriter(writer),
    declaration: declarationFact(decodeContact(contact)),
  };
}

function askForRecipient(
  source: PeopleSource,
  recipient: string,
  store: Store,
): MaybePromise<RecipientFacts> {
  const forms = numberForms(recipient);
  const answers = store.lookUp(source.shard, recipientLookups(source, recipient, forms));
  if (answers instanceof Promise || typeof answers[0] === 'string')
    return withAlias(source, { forms, answers }, store);
  return gather(answers, 1);
}

/**
 * Returns the facts about a number under its own forms, and under those of the number that the network reported for it.
 */
async function withAlias(
  source: PeopleSource,
  { forms, answers }: { readonly forms: readonly string[]; readonly answers: MaybePromise<unknown[]> },
  store: Store,
): Promise<RecipientFacts> {
  const replies = await answers;
  const facts = gather(replies, 1);
  const [alias] = replies;
  if (typeof alias !== 'string') return facts;
  const otherForms = numberForms(alias).filter((form) => !forms.includes(form));
  if (otherForms.length === 0) return { ...facts, alias };
  const lookups = otherForms.flatMap((form) => personLookups(source, form));
  return { ...gather(await store.lookUp(source.shard, lookups), 0, facts), alias };
}

/** Returns the look-ups for a number that a caller wrote, which usually has one form. */
function recipientLookups(source: PeopleSource, recipient: string, forms: readonly string[]): Lookup[] {
  const { keys, people } = source;
  const [form = recipient, otherForm] = forms;
  const lookups: Lookup[] = [
    ['HGET', keys.aliases, recipient],
    ['SISMEMBER', people.customers, form],
    ['HGET', keys.writers, form],
    ['HGET', people.contacts, form],
  ];
  return otherForm === undefined ? lookups : lookups.concat(personLookups(source, otherForm));
}

/** Returns the look-ups for one form of a number, in the order in which `gather` takes the replies. */
function personLookups({ keys, people }: PeopleSource, form: string): Lookup[] {
  return [
    ['SISMEMBER', people.customers, form],
    ['HGET', keys.writers, form],
    ['HGET', people.contacts, form],
  ];
}

/**
 * True if a message was accepted for a declaration that is no longer valid, and the recipient did not become known
 * since. For a carried message its own shop's tenant is read, in that shard.
 */
export function isLapsed(body: MessageBody, store: Store, nowMs: number): MaybePromise<boolean> {
  const { tenantId, shopId, to, policy } = body;
  if (policy?.recipientClass !== 'declared' || to === null) return false;
  const { shard } = shopAddress({ tenantId, shopId });
  const source = { shard, keys: shopKeys(shard, shopId), people: tenantKeys(tenantId) };
  return mapMaybePromise(readRecipient(source, to, store), (facts) => personClassOf(facts, nowMs) === 'cold');
}

/** Returns the class of a person by these facts, at a moment. */
export function personClassOf(facts: RecipientFacts, atMs: number): PersonClass {
  return personClassAt({ ...facts, lastInboundAtMs: facts.writer?.lastInboundAtMs ?? null }, atMs);
}

/**
 * Returns the writer under any address of a recipient. `more` has known addresses in addition to those that follow from
 * `to`.
 */
export function readWriter(
  { shard, keys }: WritersSource,
  { to, more = [] }: { readonly to: string; readonly more?: readonly string[] },
  store: Store,
): MaybePromise<FoundWriter> {
  const lookup = (address: string) => ['HGET', keys.writers, address] as const;
  const addresses = [...new Set([...numberForms(to), ...more])];
  const answers = store.lookUp(shard, [['HGET', keys.aliases, to], ...addresses.map(lookup)]);
  return mapMaybePromise(answers, ([alias, ...values]) => {
    const writerFound = latestWriter(addresses, values);
    if (alias === null) return writerFound;
    const otherForms = numberForms(alias).filter((form) => !addresses.includes(form));
    if (otherForms.length === 0) return { ...writerFound, alias };
    return mapMaybePromise(store.lookUp(shard, otherForms.map(lookup)), (moreAnswers) => ({
      ...latestWriter([...addresses, ...otherForms], [...values, ...moreAnswers]),
      alias,
    }));
  });
}

/** The facts about a person who is not known at all. */
const UNKNOWN_PERSON: RecipientFacts = { isCustomer: false, writer: undefined, declaration: null };

/**
 * Combines the replies about each form of one number, from an index on, with the known facts about the person's other
 * number.
 */
function gather(
  answers: readonly unknown[],
  start: number,
  knownFacts: RecipientFacts = UNKNOWN_PERSON,
): RecipientFacts {
  let { isCustomer, writer } = knownFacts;
  let contact: ContactRecord | undefined;
  for (let index = start; index + 2 < answers.length; index += 3) {
    isCustomer ||= answers[index] === 1;
    writer = laterWriter(writer, decodeWriter(answers[index + 1] as string | null));
    contact = laterContact(contact, decodeContact(answers[index + 2] as string | null));
  }
  const declaration = longerDeclaration(knownFacts.declaration, declarationFact(contact));
  return { isCustomer, writer, declaration };
}

/** Merges the records that are stored under these addresses. */
function latestWriter(addresses: readonly string[], answers: readonly (string | null)[]): FoundWriter {
  let writer: Writer | undefined;
  const storedUnder: string[] = [];
  for (const [index, address] of addresses.entries()) {
    const storedWriter = decodeWriter(answers[index] ?? null);
    if (storedWriter === undefined) continue;
    storedUnder.push(address);
    writer = laterWriter(writer, storedWriter);
  }
  return { writer, storedUnder };
}

/**
 * Returns the longer-lasting declaration of two numbers that the network knows to be one person's. A revoked one has
 * ended.
 */
function longerDeclaration(
  left: DeclarationFact | null,
  right: DeclarationFact | null,
): DeclarationFact | null {
  if (left === null || left.isRevoked) return right ?? left;
  if (right === null || right.isRevoked) return left;
  const endOf = ({ expiresAtMs }: DeclarationFact): number => expiresAtMs ?? Number.POSITIVE_INFINITY;
  return endOf(right) > endOf(left) ? right : left;
}
