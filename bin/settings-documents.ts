import { SETTING_GROUPS, type Setting } from './settings-table.ts';

const HEAD = ['Variable', 'Default', 'Meaning'] as const;

/** docs/settings.md, made from the table. Links of the table begin at the root of the repository. */
export function settingsPage(): string {
  const groups = SETTING_GROUPS.map(({ title, settings, note }) => {
    const rows = settings.map(
      ({ name, standard, meaning }) => [`\`${name}\``, standard, inDocs(meaning)] as const,
    );
    return `## ${title}\n\n${table(rows)}\n${note === undefined ? '' : `\n${inDocs(note)}\n`}`;
  });
  const decided = SETTING_GROUPS.flatMap(({ settings }) => settings).flatMap(({ name, decidedByCompose }) =>
    decidedByCompose === undefined ? [] : [`- \`${name}\`: ${decidedByCompose};`],
  );
  return `# Settings

All settings are variables of the environment. A bad value stops the start, and every problem is listed at once. An empty value is
none. This page and [.env.example](../.env.example) are written by \`npm run settings\` from \`bin/settings-table.ts\`.

\`docker compose\` reads them from a file \`.env\` beside \`compose.yaml\`: copy \`.env.example\` and fill in what it asks for. All are
passed on to the nodes but these:

${decided.join('\n').replace(/;$/, '.')}

${groups.join('\n')}`;
}

/** .env.example, made from the table: what compose.yaml reads or passes on. */
export function environmentExample(): string {
  const groups = SETTING_GROUPS.flatMap(({ title, settings }) => {
    const passed = settings.filter(({ decidedByCompose }) => decidedByCompose === undefined);
    if (passed.length === 0) return [];
    return `# ${plain(title)}\n\n${passed.map(exampleOf).join('\n')}`;
  });
  return `# Settings for compose.yaml: copy this file to .env and fill in what is required. Remove the # before a line to change its value.
# docs/settings.md says more. Written by \`npm run settings\`.

${groups.join('\n\n')}
`;
}

function exampleOf({ name, standard, meaning, required }: Setting): string {
  const sentence = plain(meaning).replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
  if (required !== undefined) return `# ${sentence}. Required; make one with: ${required}\n${name}=`;
  const [, value] = /^`([^`]+)`$/.exec(standard) ?? [];
  const without = value === undefined && standard !== 'none' ? ` Without it: ${plain(standard)}.` : '';
  return `# ${sentence}.${without}\n#${name}=${value ?? ''}`;
}

/** Links from the root of the repository, as seen from docs/. */
function inDocs(markdown: string): string {
  return markdown.replaceAll('](docs/', '](');
}

function plain(markdown: string): string {
  return markdown.replaceAll(/ \(\[[^\]]+\]\([^)]+\)\)/g, '').replaceAll('`', '');
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
