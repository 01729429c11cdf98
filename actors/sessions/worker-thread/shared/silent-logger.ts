import type { UserFacingSocketConfig } from '@whiskeysockets/baileys';

const drop = (): void => undefined;

/** The client's message for an error while it handles a message. It then refuses that message with an error. */
const FAILED_ON_MESSAGE = 'error in handling message';

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

/** Returns a quiet logger that passes on one thing: the error on which the client refused a message. */
export function clientLogger(refusedOn: (error: unknown) => void): typeof quietLogger {
  const logger: typeof quietLogger = {
    ...quietLogger,
    child: () => logger,
    error: (fields: unknown, message?: string) => {
      if (message === FAILED_ON_MESSAGE) refusedOn((fields as { readonly error?: unknown }).error);
    },
  };
  return logger;
}

/**
 * Silences this thread's console: libsignal prints whole sessions through it, private keys included. A stream that
 * discards its input would not do as well. The text of a session is made before it reaches the stream, which takes 0.2
 * ms for each session that is replaced.
 */
export function silenceConsole(): void {
  const silentMethods = Object.keys(globalThis.console).map((method) => [method, drop]);
  Object.assign(globalThis.console, Object.fromEntries(silentMethods));
}
