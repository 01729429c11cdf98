import type { FuzzTarget } from './fuzz-target.ts';
import { bodies } from './targets/bodies.ts';
import { heads } from './targets/heads.ts';
import { inboundForms } from './targets/inbound-forms.ts';
import { records } from './targets/records.ts';
import { scripts } from './targets/scripts.ts';
import { sessions } from './targets/sessions.ts';

/** Every edge that parses what others wrote. */
export const FUZZ_TARGETS: readonly FuzzTarget[] = [heads, bodies, inboundForms, sessions, records, scripts];
