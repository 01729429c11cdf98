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

/** Returns the fields of a log line about an error whose message may contain stored text. They have no message. */
export function errorFields(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  return { error: error.name, stack: errorFrames(error) };
}
