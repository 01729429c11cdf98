import { Console } from 'node:console';
import { Writable } from 'node:stream';

/** What the client's options call a logger. */
export interface ClientLogger {
  level: string;
  child(fields: Record<string, unknown>): ClientLogger;
  trace(fields: unknown, message?: string): void;
  debug(fields: unknown, message?: string): void;
  info(fields: unknown, message?: string): void;
  warn(fields: unknown, message?: string): void;
  error(fields: unknown, message?: string): void;
}

const drop = (): void => undefined;

/** The client logs whole stanzas and key material beside its messages, so nothing of it is kept. */
export const quietLogger: ClientLogger = {
  level: 'silent',
  child: () => quietLogger,
  trace: drop,
  debug: drop,
  info: drop,
  warn: drop,
  error: drop,
};

/** Silences this thread's console: libsignal prints whole sessions, private keys included, through it. */
export function silenceConsole(): void {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  globalThis.console = new Console({ stdout: nowhere, stderr: nowhere });
}
