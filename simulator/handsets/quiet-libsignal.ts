/**
 * The beginnings of all lines that libsignal 6.0.0 prints with `console`. Several carry whole sessions, keys included.
 */
const LIBSIGNAL_LINES = [
  'Closing session:',
  'Opening session:',
  'Session already closed',
  'Session already open',
  'Removing old closed session:',
  'Migrating session to:',
  'V1 session storage migration error',
  'Closing open session in favor of incoming prekey bundle',
  'Decrypted message with closed session.',
  'Failed to decrypt message with any known session...',
  'Session error:',
  'Unhandled bucket type (for naming):',
];

const METHODS = ['info', 'warn', 'error'] as const;

let isFiltered = false;

/** Keeps libsignal's lines, and only those, off the console of this process. */
export function quietLibsignal(): void {
  if (isFiltered) return;
  isFiltered = true;
  const target: Console = globalThis.console;
  for (const method of METHODS) {
    const original = target[method];
    target[method] = (...parts: unknown[]) => {
      const first = parts[0];
      if (typeof first === 'string' && LIBSIGNAL_LINES.some((line) => first.startsWith(line))) return;
      original.apply(target, parts);
    };
  }
}
