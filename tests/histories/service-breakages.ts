import { readRepositoryFile } from '../testbed/read-repository-file.ts';

/** A promise that the checker knows, and how the service is broken so that a history must name it. */
export interface ServiceBreakage {
  readonly promise: string;
  /** A second promise that the same words break. A short history may meet only one of them. */
  readonly alsoBreaks?: string;
  readonly file: string;
  readonly edits: readonly (readonly [from: string, to: string])[];
}

/** Returns a file of the service with a breakage in it. */
export function brokenSource({ file, edits }: Pick<ServiceBreakage, 'file' | 'edits'>): string {
  return edits.reduce((source, [from, to]) => source.replace(from, () => to), readRepositoryFile(file));
}

/** Each promise is broken by a few words in one file of the service. */
export const serviceBreakages: readonly ServiceBreakage[] = [
  {
    promise: 'one key is one message',
    alsoBreaks: 'a repetition is answered with its message',
    file: 'actors/shops/turns/send/accept-message.ts',
    edits: [['  if (original !== undefined) {', '  if (original !== undefined && builder.nowMs < 0) {']],
  },
  {
    promise: 'nothing is sent after a STOP',
    file: 'actors/shops/turns/dispatch/dispatch-message.ts',
    edits: [['if (isWithdrawn || (isPerson(recipient) && writer?.optedOut))', 'if (isWithdrawn)']],
  },
  {
    promise: 'a revoked key is refused',
    file: 'actors/tenants/operations/admission.ts',
    edits: [['if (revokedAtMs !== null || call.keyHash', 'if (call.keyHash']],
  },
  {
    promise: 'the feed publishes each end',
    file: 'actors/tenants/stored-events/tenant-event.ts',
    edits: [
      [
        'const added = events.map(',
        "const added = events.filter(({ type, subject }) => type !== 'message.sent' || /[02468ace]$/.test(subject)).map(",
      ],
    ],
  },
  {
    promise: 'a suspended tenant sends nothing',
    file: 'actors/shops/state/shop-state.ts',
    edits: [['heldByOperator && state.isTenantActive;', 'heldByOperator;']],
  },
  {
    promise: 'an erased shop leaves nothing',
    file: 'actors/tenants/stored-events/erase-events.ts',
    edits: [['let remaining: unknown = 1;', 'let remaining: unknown = 0;']],
  },
  {
    promise: 'a number keeps to its cap',
    file: 'policy/evaluate-message.ts',
    edits: [['tally.lastHour >= caps.perHour', 'tally.lastHour > caps.perHour']],
  },
  {
    promise: 'messages to one recipient are apart',
    file: 'policy/evaluate-message.ts',
    edits: [['isReplied ? atMs : lastMs + RECIPIENT_SPACING_MS', 'isReplied ? atMs : lastMs']],
  },
  {
    promise: 'what was cancelled is not sent',
    file: 'actors/shops/turns/scheduled/scheduled-turns.ts',
    edits: [["status: 'cancelled' };\n  endOne(builder, storedSchedule, end);", "status: 'cancelled' };"]],
  },
  {
    promise: 'an inbound message is published once',
    file: 'actors/tenants/stored-events/tenant-event.ts',
    edits: [
      [
        'const added = events.map(',
        "const added = events.flatMap((event) => (event.type === 'message.received' ? [event, event] : [event])).map(",
      ],
    ],
  },
  {
    promise: 'an endpoint hears each event',
    file: 'actors/webhooks/deliver.ts',
    edits: [
      [
        '  const signal = AbortSignal.timeout(ENDPOINT_ANSWER_MS);',
        "  if (signedParts.body.includes('message.sent')) return { status: 200, error: null, holdMs: null };\n  const signal = AbortSignal.timeout(ENDPOINT_ANSWER_MS);",
      ],
    ],
  },
];
