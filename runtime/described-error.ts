/** The description of an error for the log and for operators. It contains no stored text, and no text of a tenant. */

/** An error whose message is ours and contains no such text. So its message is logged. */
export class ValueFreeError extends Error {}

/**
 * Messages of others that are logged. V8's message about a missing value or function contains only a name of the code.
 * Such a name begins with a small letter and has no digits. Node's message about a worker that cannot start contains a
 * code of the system.
 */
const KNOWN_MESSAGES = [
  /^Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '[a-z_$][A-Za-z_$]{0,29}'\)$/,
  /^[a-z_$][A-Za-z_$.]{0,59} is not (?:a function|defined)$/,
  /^Worker initialization failure: [A-Z]+$/,
];

/** The most errors that are described for one: itself, its causes and those of an `AggregateError`. */
const MOST_ERRORS = 20;

/** An error as it is logged. Fields of the error that are not here may contain texts, for example a command. */
export interface DescribedError {
  /** Its class, or the type of a thrown value that is no error. */
  readonly type: string;
  /** Undefined if it may contain a value. */
  readonly message?: string | undefined;
  /** The code of the system, of a library or of ours, for example `ENOSPC`. */
  readonly code?: string | undefined;
  /** The frames. Undefined if the thread keeps none, as session workers do. */
  readonly stack?: string | undefined;
  readonly cause?: DescribedError | undefined;
  readonly aggregateErrors?: readonly DescribedError[] | undefined;
}

/** Describes an error, its causes and the errors that it collects. */
export function describeError(error: unknown): DescribedError {
  return described(error, new Set());
}

function described(error: unknown, seenErrors: Set<unknown>): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error };
  seenErrors.add(error);
  const inner = (errors: readonly unknown[]): readonly DescribedError[] =>
    errors.flatMap((one) =>
      seenErrors.has(one) || seenErrors.size === MOST_ERRORS ? [] : [described(one, seenErrors)],
    );
  const { name, message } = error;
  const isKnown = error instanceof ValueFreeError || KNOWN_MESSAGES.some((pattern) => pattern.test(message));
  return {
    type: name === 'Error' ? error.constructor.name : name,
    message: isKnown ? message : undefined,
    code: codeOf(error),
    stack: framesOf(error),
    cause: error.cause === undefined ? undefined : inner([error.cause])[0],
    aggregateErrors: error instanceof AggregateError ? inner(error.errors) : undefined,
  };
}

/**
 * Returns the message of an error of ours, and the class, code, known message and first frame in the program of any
 * other.
 */
export function errorText(error: unknown): string {
  const { type, code, message, stack } = describeError(error);
  if (error instanceof ValueFreeError)
    return code === undefined ? error.message : `${error.message} (${code})`;
  const frames = stack?.split('\n') ?? [];
  const frame = frames.find((line) => !/\(<anonymous>\)|node:|node_modules/.test(line)) ?? frames[0];
  return [type, code, message && `(${message})`, frame?.trim()].filter(Boolean).join(' ');
}

/** Returns the message of an error, for a person who starts a program. Never log it: it may contain any text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code that begins an error reply of Redis. The rest of the reply may quote an argument. */
export function replyCode(reply: string): string | undefined {
  return /^[A-Z]{3,40}(?= )/.exec(reply)?.[0];
}

/** Only a code of capitals is returned, so that it contains no number and no text of a person. */
function codeOf({ name, message, code }: Error & { readonly code?: unknown }): string | undefined {
  if (typeof code === 'string' && /^[A-Z][A-Z_]{2,39}$/.test(code)) return code;
  return name === 'ReplyError' ? replyCode(message) : undefined;
}

/** Returns the frames behind the message that begins a stack. None if the message has changed since then. */
function framesOf({ message, stack = '' }: Error): string | undefined {
  const start = stack.indexOf(message);
  if (start < 0) return undefined;
  const lines = stack.slice(start + message.length).split('\n');
  return lines.filter((line) => line.startsWith('    at ')).join('\n') || undefined;
}
