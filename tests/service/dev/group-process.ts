import { lockFile } from '../../../service/dev/file-lock.ts';
import { runProcessGroup } from '../../../service/dev/run-process-group.ts';

/** A group of shell scripts in a separate process that tests may signal and kill. */
interface Scenario {
  readonly members: readonly { readonly name: string; readonly script: string }[];
  /** `ready`: all is up. `fails`: bringing up fails after the members. `hangs`: it never gets done. */
  readonly outcome: 'ready' | 'fails' | 'hangs';
  /** A lock that the members keep. */
  readonly lockPath?: string;
}

const scenario: Scenario = JSON.parse(process.argv[2] ?? '{}');

await runProcessGroup({
  name: 'group',
  async bringUp(group) {
    const { lockPath } = scenario;
    const lock = lockPath === undefined ? undefined : await lockFile(lockPath, { waitSeconds: 0 });
    const pids = scenario.members.map(({ name, script }) => {
      const keepsOpen = lock === undefined ? {} : { keepsOpen: lock.file };
      return group.start({ name, command: 'sh', args: ['-c', script], ...keepsOpen }).pid;
    });
    if (scenario.outcome === 'fails') throw new Error('the last step went wrong');
    if (scenario.outcome === 'ready') return { ready: true, pids };
    process.stdout.write(`${JSON.stringify({ ready: false, pids })}\n`);
    return new Promise<never>(() => undefined);
  },
});
