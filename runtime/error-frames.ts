/**
 * Returns the frames of an error's stack, without the message that begins it. Empty if the thread keeps no stacks, or
 * if the message has changed since the error was made.
 */
export function errorFrames({ message, stack = '' }: Error): string {
  const start = stack.indexOf(message);
  if (start < 0) return '';
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}

/** The fields of a log line about an error whose message may contain stored text. They have no message. */
export interface ErrorFields {
  readonly error: string;
  readonly code?: string;
  readonly stack?: string;
}

export function errorFields(error: unknown): ErrorFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = systemCode(error);
  return { error: error.name, ...(code === undefined ? {} : { code }), stack: errorFrames(error) };
}

/**
 * Returns the code of the system or of a library, for example `ENOSPC`. Only a code of capitals is returned, so that it
 * contains no number and no text of a person.
 */
export function systemCode({ code }: Error & { readonly code?: unknown }): string | undefined {
  return typeof code === 'string' && /^[A-Z][A-Z_]{2,39}$/.test(code) ? code : undefined;
}
