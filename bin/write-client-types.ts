import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { apiDocument, clientTypes } from './client-types.ts';

/** Writes the client's types again, after the API's declarations changed. */
writeFileSync(resolve(import.meta.dirname, '../client/src/operations.ts'), clientTypes(apiDocument()));
