import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { answerMex } from '../limits/number-limit-stanzas.ts';
import { collectionOf, shareSettingsKey } from '../linking/account-name.ts';
import type { Companion } from '../linking/companions.ts';
import { sendHistory } from '../linking/history.ts';
import { unlink } from '../linking/unlinking.ts';
import type { Network } from '../network.ts';
import type { Connection } from '../socket/connection.ts';
import { attribute, iqError, iqResult, node } from '../socket/stanzas.ts';
import { answerGroupQuery } from './group-queries.ts';
import { answerPreKeyQuery } from './pre-key-queries.ts';
import { answerUsync } from './usync.ts';

/** A query, and the client that asks it. */
interface Query {
  readonly network: Network;
  readonly connection: Connection;
  readonly companion: Companion;
  readonly iq: BinaryNode;
  /** Runs the work after the answer has been sent. */
  doAfterwards(work: () => void | Promise<void>): void;
}

/** How long a client may use one answer to `media_conn`. */
const MEDIA_CONN_SECONDS = 3_600;

const answers: Readonly<Record<string, (query: Query) => BinaryNode | Promise<BinaryNode>>> = {
  'w:p': ({ iq }) => iqResult(iq),
  'urn:xmpp:whatsapp:dirty': ({ iq }) => iqResult(iq),
  abt: ({ iq }) => iqResult(iq, [node('props', { protocol: '1' })]),
  blocklist: ({ iq }) => iqResult(iq, [node('list')]),
  'w:stats': ({ iq }) => iqResult(iq),
  passive: answerPassive,
  privacy: answerPrivacy,
  encrypt: ({ network, companion, iq }) => answerPreKeyQuery(network, companion, iq),
  usync: ({ network, companion, iq }) => answerUsync(network, companion, iq),
  'w:g2': ({ network, companion, iq }) => answerGroupQuery(network, companion, iq),
  'w:m': ({ network, iq }) =>
    iqResult(iq, [
      node('media_conn', { auth: network.media.auth, ttl: String(MEDIA_CONN_SECONDS) }, [
        node('host', { hostname: network.media.host, type: 'primary' }),
      ]),
    ]),
  'w:mex': ({ network, companion, iq }) => answerMex(network, companion, iq),
  md: answerLinking,
  'w:sync:app:state': async (query) => iqResult(query.iq, [await answerAppState(query)]),
};

/** Answers an iq of a companion. An unknown one is refused with 501 and reported. */
export async function answerQuery(network: Network, connection: Connection, iq: BinaryNode): Promise<void> {
  const { companion } = connection;
  const type = attribute(iq, 'type');
  if (!companion || (type !== 'get' && type !== 'set' && type !== '')) return;
  const xmlns = attribute(iq, 'xmlns');
  const refusal = network.faults.take('query', `${companion.phone} ${xmlns}`);
  if (refusal) {
    connection.send(iqError(iq, refusal.code, refusal.text));
    return;
  }
  const answer = answers[xmlns];
  if (!answer) {
    network.log({ event: 'unknown query', xmlns, companion: companion.id });
    connection.send(iqError(iq, 501, 'feature-not-implemented'));
    return;
  }
  const laterActions: (() => void | Promise<void>)[] = [];
  connection.send(
    await answer({ network, connection, companion, iq, doAfterwards: (work) => laterActions.push(work) }),
  );
  for (const work of laterActions) await work();
}

/** Answers `active`: the client is ready for the stanzas that waited for it. They are then sent. */
function answerPassive({ network, connection, companion, iq, doAfterwards }: Query): BinaryNode {
  if (getBinaryNodeChild(iq, 'active') && connection.backlog === undefined)
    doAfterwards(() => deliverFromNowOn(network, connection, companion));
  return iqResult(iq);
}

/** Sends the client the stanzas that waited for it, and new ones from now on. */
export async function deliverFromNowOn(
  network: Network,
  connection: Connection,
  companion: Companion,
): Promise<void> {
  if (network.groups.takeStale(companion.id)) connection.send(groupsChanged(network));
  network.deliveries.flush(connection, companion);
  if (!network.companions.takeHistoryDue(companion)) return;
  await shareSettingsKey(network, companion);
  await sendHistory(network, companion);
}

/** Returns the notice that groups changed while the client was offline. It then fetches them all. */
const groupsChanged = (network: Network): BinaryNode =>
  node('ib', {}, [node('dirty', { type: 'groups', timestamp: stanzaTime(network.clock) })]);

function answerPrivacy({ network, companion, iq }: Query): BinaryNode {
  if (attribute(iq, 'type') === 'set') {
    for (const { attrs } of getBinaryNodeChildren(getBinaryNodeChild(iq, 'tokens'), 'token'))
      network.log({ event: 'token issued', companion: companion.id, to: attrs.jid });
    return iqResult(iq, [node('tokens')]);
  }
  const categories = ['readreceipts', 'last', 'online', 'profile', 'status', 'groupadd', 'calladd'];
  return iqResult(iq, [
    node(
      'privacy',
      {},
      categories.map((name) => node('category', { name, value: 'all' })),
    ),
  ]);
}

function answerLinking({ network, companion, iq, doAfterwards }: Query): BinaryNode {
  if (!getBinaryNodeChild(iq, 'remove-companion-device')) return iqError(iq, 501, 'feature-not-implemented');
  doAfterwards(() => unlink(network, companion));
  return iqResult(iq);
}

/** Answers that every collection is empty and up to date. */
async function answerAppState({ network, companion, iq }: Query): Promise<BinaryNode> {
  const collections = getBinaryNodeChildren(getBinaryNodeChild(iq, 'sync'), 'collection');
  const answers = collections.map((collection) => collectionOf(network, companion, collection));
  return node('sync', {}, await Promise.all(answers));
}
