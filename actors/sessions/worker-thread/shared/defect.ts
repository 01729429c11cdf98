/** Words for errors that nothing here expects. Nobody knows what is in their messages, so values are left out. */

/** The longest message of an error in the log. */
const LONGEST_CAUSE = 300;

/** V8's message for a missing value. It names a property of the code, which is all that tells where it is. */
const MISSING_VALUE =
  /^Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '[A-Za-z_$][\w$]{0,40}'\)$/;

/** The fields of a log line about a defect. */
export interface DefectFields {
  readonly error: string;
  readonly cause: string;
  /** Absent if the thread keeps no stacks, as session workers do unless `NODE_OPTIONS` has `--stack-trace-limit`. */
  readonly stack?: string;
}

/**
 * Returns the fields of a log line about an error: its name, its message and the frames of its stack. They contain no
 * text of a message, number or key: quoted parts, `text`, and what looks like a number or a key are replaced.
 */
export function describeDefect(error: unknown, text = ''): DefectFields {
  if (!(error instanceof Error)) return { error: typeof error, cause: '' };
  const { name, message } = error;
  const frames = framesOf(error);
  const described = { error: name, cause: withoutValues(error, message, text) };
  return frames === '' ? described : { ...described, stack: frames };
}

function withoutValues(error: Error, message: string, text: string): string {
  // It quotes what was parsed, in several forms.
  if (error instanceof SyntaxError) return '';
  if (MISSING_VALUE.test(message)) return message;
  return (text === '' ? message : message.replaceAll(text, '…'))
    .replace(/["'`].*["'`]/s, '"…"')
    .replace(/[\w+/=-]{32,}|\d{4,}/g, '…')
    .slice(0, LONGEST_CAUSE);
}

/** The frames without the message, which begins a stack. */
function framesOf({ message, stack = '' }: Error): string {
  const start = stack.indexOf(message);
  if (start < 0) return '';
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}
