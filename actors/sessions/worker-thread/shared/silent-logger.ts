import type { UserFacingSocketConfig } from '@whiskeysockets/baileys';

const drop = (): void => undefined;

/** The client logs whole stanzas and key material with its messages, so nothing of it is kept. */
export const quietLogger: NonNullable<UserFacingSocketConfig['logger']> = {
  level: 'silent',
  child: () => quietLogger,
  trace: drop,
  debug: drop,
  info: drop,
  warn: drop,
  error: drop,
};

/**
 * Silences this thread's console: libsignal prints whole sessions through it, private keys included. A stream that
 * discards its input would not do as well. The text of a session is made before it reaches the stream, which takes 0.2
 * ms for each session that is replaced.
 */
export function silenceConsole(): void {
  const silent = Object.keys(globalThis.console).map((method) => [method, drop]);
  Object.assign(globalThis.console, Object.fromEntries(silent));
}
