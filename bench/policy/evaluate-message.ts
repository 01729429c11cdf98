/**
 * Measures the time of a whole 1:1 evaluation for a shop at its caps, and the bytes of 10,000 such shops. The sides are
 * the flat ledger, and the rules over an array of objects. Run: node --import tsx bench/policy/evaluate-message.ts
 */
import { evaluateMessage, type MessageFacts } from '../../policy/evaluate-message.ts';
import { encodeEntry, type LedgerEntry } from '../../policy/ledger-entry.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { textFingerprint } from '../../policy/text-fingerprint.ts';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { alternate, bytesInUse, medianNs, sideToRun } from './alternate.ts';

const startMs = 1_760_000_000_000;
const shopCount = 10_000;
const settings = resolveSettings({});
const english = 'Hello Anna, your order 4711 is packed and leaves our shop this afternoon. '.repeat(2);
const french = 'Bonjour Zoé, votre commande 4711 est prête et sera expédiée cet après-midi. '.repeat(2);

/** Returns the entries of a shop that has spent every budget: `groups` and `statuses` spread among 250 messages. */
function entriesAtCaps(
  shop: number,
  others: { readonly groups: number; readonly statuses: number },
): LedgerEntry[] {
  return Array.from({ length: 250 }, (_, index): LedgerEntry[] => {
    const atMs = startMs + index * 330_000;
    const fingerprint = textFingerprint(`Text ${index % 40}`);
    const kind = index % 10 === 0 ? 'cold' : index % 9 === 0 ? 'declared' : 'known';
    const entries: LedgerEntry[] = [
      { kind, atMs, subject: 4_915_000_000_000 + shop * 250 + index, fingerprint },
    ];
    if (index < others.groups) entries.push({ kind: 'group', atMs, subject: 1, fingerprint });
    if (index < others.statuses)
      entries.push({ kind: 'status', atMs, subject: 0, fingerprint: { high: 0, low: 0 } });
    return entries;
  }).flat();
}

const lastMs = startMs + 249 * 330_000;

function facts(more: Partial<MessageFacts>): MessageFacts {
  return {
    recipient: '+33612345678',
    text: english,
    mediaUrl: undefined,
    isCustomer: true,
    lastInboundAtMs: null,
    hasOptedOut: false,
    declaration: null,
    pairedAtMs: startMs - 100 * DAY_MS,
    settings,
    nowMs: lastMs + 1_000,
    ...more,
  };
}

function ledgerOf(entries: readonly LedgerEntry[]): SendLedger {
  const ledger = new SendLedger();
  for (const entry of entries) ledger.record(entry);
  return ledger;
}

function measureLedger(): Record<string, number> {
  const atRoofs = ledgerOf(entriesAtCaps(1, { groups: 100, statuses: 30 }));
  const almost = ledgerOf(entriesAtCaps(1, { groups: 100, statuses: 30 }).slice(3));
  const expectedEvaluations = [evaluateMessage(atRoofs, facts({})), evaluateMessage(almost, facts({}))];
  if (expectedEvaluations[0]?.isAdmitted !== false || expectedEvaluations[1]?.isAdmitted !== true)
    throw new Error('the shops are not at their caps');
  const time = (ledger: SendLedger, more: Partial<MessageFacts>): number => {
    const askedFacts = facts(more);
    let admitted = 0;
    const call = (): void => {
      admitted += evaluateMessage(ledger, askedFacts).isAdmitted ? 1 : 0;
    };
    return medianNs({ batches: 1500, batch: 100, call }) + 0 * admitted;
  };
  const encoded = entriesAtCaps(1, { groups: 100, statuses: 30 }).map(encodeEntry);
  return {
    'ns, admitted, one below the cap': time(almost, {}),
    'ns, admitted, accented text': time(almost, { text: french }),
    'ns, admitted, text of 4096': time(almost, { text: 'lorem ipsum '.repeat(400).slice(0, 4096) }),
    'ns, refused at the daily cap': time(atRoofs, {}),
    'ns, restored from 380 entries': medianNs({
      batches: 200,
      batch: 5,
      call: () => void SendLedger.restore(encoded),
    }),
  };
}

/** Evaluates plainly: an array of objects, and one filter for each rule. Leaves out class, warm-up and verdict. */
function measureArrays(): Record<string, number> {
  const entries = entriesAtCaps(1, { groups: 100, statuses: 30 });
  let refused = 0;
  const call = (): void => {
    const nowMs = lastMs + 1_000;
    const { high, low } = textFingerprint(english);
    const people = entries.filter(
      (entry) => nowMs - entry.atMs < DAY_MS && entry.kind !== 'group' && entry.kind !== 'status',
    );
    const lastHour = people.filter((entry) => nowMs - entry.atMs < HOUR_MS);
    const sameEntries = lastHour.filter(
      ({ fingerprint }) => fingerprint.high === high && fingerprint.low === low,
    );
    const entriesOfRecipient = people.filter((entry) => entry.subject === 33_612_345_678);
    const cold = people.filter((entry) => entry.kind === 'cold');
    const declaredEntries = people.filter((entry) => entry.kind === 'declared');
    const distinct = new Set(sameEntries.map((entry) => entry.subject));
    const isFull = [
      distinct.size >= 20,
      entriesOfRecipient.length >= 3,
      people.length >= 250,
      lastHour.length >= 41,
    ];
    refused += isFull.includes(true) || cold.length >= 26 || declaredEntries.length >= 31 ? 1 : 0;
  };
  return { 'ns, the same rules by filters': medianNs({ batches: 1500, batch: 100, call }) + 0 * refused };
}

function shopBytes(
  make: (entries: LedgerEntry[]) => unknown,
  others: { groups: number; statuses: number },
): number {
  const before = bytesInUse();
  const shops = Array.from({ length: shopCount }, (_, shop) => make(entriesAtCaps(shop, others)));
  const bytes = bytesInUse() - before;
  return Math.round((100 * bytes * Math.sign(shops.length)) / 1e6) / 100;
}

const side = sideToRun();
if (side === undefined) {
  alternate({ file: import.meta.filename, sides: ['ledger', 'objects'], rounds: 3 });
} else {
  const make = side === 'ledger' ? ledgerOf : (entries: LedgerEntry[]) => entries;
  const times = side === 'ledger' ? measureLedger() : measureArrays();
  const figures = {
    ...times,
    'MB, 10,000 shops at default caps': shopBytes(make, { groups: 20, statuses: 10 }),
    'MB, 10,000 shops at every roof': shopBytes(make, { groups: 100, statuses: 30 }),
  };
  console.log(JSON.stringify(figures));
}
