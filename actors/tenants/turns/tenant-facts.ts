import { numberForms } from '../../../policy/number-forms.ts';
import type { MaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Store } from '../../../runtime/store.ts';
import { readContacts } from '../contact-record.ts';
import { mergedField } from '../person-entry.ts';
import { readProgress } from '../stored-webhooks/webhook-progress.ts';
import type { TenantCommand, TenantCommandOf } from '../tenant-commands.ts';
import type { TenantFacts } from '../tenant-replies.ts';
import type { TenantState } from '../tenant-state.ts';

/** Reads the facts that the turn on a command needs in addition to the tenant's state. */
type Read<Command> = (state: TenantState, command: Command, store: Store) => Promise<Partial<TenantFacts>>;

/** The readers of facts. A command that is not here needs none. */
const READS: { readonly [Type in TenantCommand['type']]?: Read<TenantCommandOf<Type>> } = {
  declare: (state, { contacts }, store) =>
    readDeclared(
      state,
      contacts.map(({ phone }) => phone),
      store,
    ),
  revoke_contact: (state, { phone }, store) => readDeclared(state, [phone], store),
  add_customers: (state, { phones }, store) => readCustomers(state, phones, store),
  remove_customers: (state, { phones }, store) => readCustomers(state, phones.flatMap(numberForms), store),
  erase_person: readIsKnown,
  erase_progress: readAllProgress,
};

const NO_FACTS: TenantFacts = { contacts: new Map(), customers: new Set() };

/** Reads the facts for the turn on a command; none if the state is enough. */
export function readTenantFacts(
  state: TenantState,
  command: TenantCommand,
  store: Store,
): MaybePromise<TenantFacts> {
  const read: Read<never> | undefined = READS[command.type];
  if (read === undefined) return NO_FACTS;
  // The command has the type under which the function was found.
  return read(state, command as never, store).then((facts) => ({ ...NO_FACTS, ...facts }));
}

async function readDeclared(
  { keys }: TenantState,
  phones: readonly string[],
  store: Store,
): Promise<Pick<TenantFacts, 'contacts'>> {
  return { contacts: await readContacts(keys, phones, store) };
}

async function readCustomers(
  { keys }: TenantState,
  phones: readonly string[],
  store: Store,
): Promise<Pick<TenantFacts, 'customers'>> {
  const [knownMarks] = await store.read([['SMISMEMBER', keys.customers, ...phones]]);
  return { customers: new Set(phones.filter((_, index) => knownMarks[index] === 1)) };
}

async function readIsKnown(
  { keys }: TenantState,
  { personId }: TenantCommandOf<'erase_person'>,
  store: Store,
): Promise<Pick<TenantFacts, 'isKnown'>> {
  const [entries] = await store.read([['HMGET', keys.personIds, personId, mergedField(personId)]]);
  return { isKnown: entries.some((entry) => entry !== null) };
}

async function readAllProgress(
  { keys }: TenantState,
  { webhookIds }: TenantCommandOf<'erase_progress'>,
  store: Store,
): Promise<Pick<TenantFacts, 'progress'>> {
  return { progress: await readProgress(store, keys.webhookProgress, webhookIds) };
}
