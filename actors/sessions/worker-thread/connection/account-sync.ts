import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { readClientError } from '../session/session-end.ts';

/** The collection of the account's settings that has its name. The network shows contacts a dash without it. */
const NAMES = 'critical_block';

/** Fetches the account's own name, for which the client fetches one collection of the account's settings. */
export function followAccount({
  socket,
  log,
}: {
  readonly socket: Pick<WASocket, 'ev' | 'resyncAppState'>;
  readonly log: (level: 'warn', fields: Record<string, unknown>, message: string) => void;
}): void {
  let isOver = false;
  socket.ev.on('connection.update', ({ connection }) => {
    if (connection === 'close') isOver = true;
  });
  socket.ev.on('creds.update', ({ myAppStateKeyId }) => {
    if (myAppStateKeyId === undefined) return;
    socket.resyncAppState([NAMES], true).catch((error: unknown) => {
      if (!isOver)
        log('warn', { cause: readClientError(error).message }, 'data of the account was not taken');
    });
  });
}

/** Removes unneeded collections from a notification, so that the client does not fetch them. */
export function skipCollections(frame: BinaryNode | Uint8Array): void {
  if (frame instanceof Uint8Array || frame.tag !== 'notification' || frame.attrs.type !== 'server_sync')
    return;
  if (!Array.isArray(frame.content)) return;
  frame.content = frame.content.filter(({ tag, attrs }) => tag !== 'collection' || attrs.name === NAMES);
}
