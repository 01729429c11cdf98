import { devEnvironment } from '../environment.ts';
import { bringUp } from './dev-stack.ts';
import { runProcessGroup } from './run-process-group.ts';

await runProcessGroup({ name: 'bin/dev', bringUp: (group) => bringUp(devEnvironment(), group) });
