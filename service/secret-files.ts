import { readFileSync } from 'node:fs';

/** The variables after the files with secrets were read, and the problems with those files. */
export interface SecretVariables {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Names of the secrets that could not be read; they are not reported as missing as well. */
  readonly unreadNames: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/** Longest file that is accepted. A secret is a line of text; a longer file was named by mistake. */
const MOST_CHARACTERS = 65_536;

/**
 * Reads each secret `NAME` whose `NAME_FILE` is given, and takes `NAME_FILE` out. Later readers of the variables, in
 * this process or one that it starts, know `NAME` alone. White space at the file's end is not part of the secret.
 *
 * Never throws. A file that cannot be read, an empty one, and a secret given in both ways are problems. A problem names
 * the file and repeats nothing of its content.
 */
export function readSecretFiles(
  variables: Readonly<Record<string, string | undefined>>,
  secretNames: Iterable<string>,
): SecretVariables {
  const readVariables: Record<string, string | undefined> = { ...variables };
  const unreadNames = new Set<string>();
  const problems: string[] = [];
  for (const name of secretNames) {
    const fileName = `${name}_FILE`;
    const path = variables[fileName];
    if (path === undefined) continue;
    delete readVariables[fileName];
    const secret = variables[name] === undefined ? readSecret(path) : unread(`nothing beside ${name}`);
    if (secret.ok) {
      readVariables[name] = secret.value;
      continue;
    }
    unreadNames.add(name);
    problems.push(`${fileName}: expected ${secret.problem}; found ${JSON.stringify(path)}`);
  }
  return { variables: readVariables, unreadNames, problems };
}

type ReadSecret =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problem: string };

const unread = (problem: string): ReadSecret => ({ ok: false, problem });

function readSecret(path: string): ReadSecret {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return unread(`a file that can be read (${reason})`);
  }
  const secret = text.trimEnd();
  if (secret === '' || text.length > MOST_CHARACTERS) return unread('a file with one secret in it');
  return { ok: true, value: secret };
}
