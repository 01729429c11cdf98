import type { Setting } from './settings-row.ts';
import { SETTING_GROUPS } from './settings-table.ts';

/** docs/settings.md, made from the table. Links of the table begin at the root of the repository. */
export function settingsPage(): string {
  const groups = SETTING_GROUPS.map(({ title, settings, note }) => {
    const rows = settings.map(({ name, standard, meaning }) => settingItem(name, standard, inDocs(meaning)));
    return `## ${title}\n\n${rows.join('\n')}\n${note === undefined ? '' : `\n${inDocs(note)}\n`}`;
  });
  const decidedSettings = SETTING_GROUPS.flatMap(({ settings }) => settings).flatMap(
    ({ name, decidedByCompose }) =>
      decidedByCompose === undefined ? [] : [`- \`${name}\`: ${decidedByCompose};`],
  );
  return `# Settings

All settings are variables of the environment. A bad value stops the start, and every problem is listed at once. An
empty value counts as not set. \`npm run settings\` writes this page and [.env.example](../.env.example) from
\`bin/generators/settings-table.ts\`.

\`docker compose\` reads them from a file \`.env\` beside \`compose.yaml\`: copy \`.env.example\` and fill it in. All are
passed on to the nodes, except these:

${decidedSettings.join('\n').replace(/;$/, '.')}

${groups.join('\n')}`;
}

/** .env.example, made from the table: what compose.yaml reads or passes on. */
export function environmentExample(): string {
  const groups = SETTING_GROUPS.flatMap(({ title, settings }) => {
    const passedSettings = settings.filter(({ decidedByCompose }) => decidedByCompose === undefined);
    if (passedSettings.length === 0) return [];
    return `# ${plainText(title)}\n\n${passedSettings.map(exampleOf).join('\n')}`;
  });
  return `# Settings for compose.yaml: copy this file to .env and fill in what is required. Remove the # before a line to change its value.
# docs/settings.md explains them. Written by \`npm run settings\`.

${groups.join('\n\n')}
`;
}

function exampleOf({ name, standard, meaning, required }: Setting): string {
  const sentence = capitalized(plainText(meaning));
  if (required !== undefined) return `# ${sentence}. Required; make one with: ${required}\n${name}=`;
  const [, value] = /^`([^`]+)`$/.exec(standard) ?? [];
  const ifAbsent = value === undefined && standard !== 'none' ? ` Without it: ${plainText(standard)}.` : '';
  return `# ${sentence}.${ifAbsent}\n#${name}=${value ?? ''}`;
}

/** Links from the root of the repository, as seen from docs/. */
function inDocs(markdown: string): string {
  return markdown.replaceAll('](docs/', '](');
}

function plainText(markdown: string): string {
  return markdown.replaceAll(/ \(\[[^\]]+\]\([^)]+\)\)/g, '').replaceAll('`', '');
}

/** Returns one setting as an item of a list: a table would be wider than a page. */
function settingItem(name: string, standard: string, description: string): string {
  const sentence = /[.!?]$/.test(description) ? description : `${description}.`;
  const ifAbsent = /^required/.test(standard) ? `R${standard.slice(1)}` : `Default: ${standard}`;
  return `- \`${name}\`: ${capitalized(sentence)} ${ifAbsent}.`;
}

/** Returns the sentence with a capital, unless it begins with a name or a value, such as `redis://`. */
function capitalized(sentence: string): string {
  return sentence.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
}
