/** The load generator, in a separate process: a plan as JSON on standard input, its result on standard output. */

import { readFileSync } from 'node:fs';
import type { LoadPlan } from './load-plan.ts';
import { runLoad } from './run-load.ts';

const plan = JSON.parse(readFileSync(0, 'utf8')) as LoadPlan;
process.stdout.write(JSON.stringify(await runLoad(plan)));
