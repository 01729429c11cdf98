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

let users = 0;
let restoreConsole: (() => void) | undefined;

/** Keeps libsignal's lines, and only those, off the console. Each call must be ended by its returned function. */
export function quietLibsignal(): () => void {
  users += 1;
  restoreConsole ??= filterConsole();
  let released = false;
  return () => {
    if (released) return;
    released = true;
    users -= 1;
    if (users > 0) return;
    restoreConsole?.();
    restoreConsole = undefined;
  };
}

function filterConsole(): () => void {
  const target: Console = globalThis.console;
  const originals = METHODS.map((method) => [method, target[method]] as const);
  for (const [method, original] of originals) {
    target[method] = (...parts: unknown[]) => {
      const first = parts[0];
      if (typeof first === 'string' && LIBSIGNAL_LINES.some((line) => first.startsWith(line))) return;
      original.apply(target, parts);
    };
  }
  return () => {
    for (const [method, original] of originals) target[method] = original;
  };
}
