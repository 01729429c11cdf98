import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { moduleFile, nodeFlags } from '../../testbed/root.ts';

/** The program of a target of the Dockerfile, as far as a process can run it here. */
export interface ImageTarget {
  readonly environment: Readonly<Record<string, string>>;
  /** The words of its ENTRYPOINT. */
  readonly entryPoint: readonly string[];
  /** Arguments of Node, with programs in the form in which the tests run. */
  readonly nodeArguments: readonly string[];
}

/** Reads a target whose ENTRYPOINT is Node, with the ENV of the stages that it comes from. */
export function imageTarget(name: string): ImageTarget {
  const dockerfile = readRepositoryFile('Dockerfile').replaceAll('\\\n', '');
  const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
  const lines: string[] = [];
  for (let wanted: string | undefined = name; wanted !== undefined; ) {
    const stage = stages.find((each) => each.split('\n')[0]?.endsWith(` AS ${wanted}`));
    if (stage === undefined) break;
    lines.unshift(...stage.split('\n'));
    wanted = /^FROM (\S+)/.exec(stage)?.[1];
  }
  const environment = lines
    .filter((line) => line.startsWith('ENV '))
    .flatMap((line) => line.slice(4).split(' '))
    .map((pair) => pair.split('=') as [string, string]);
  const words = lines.findLast((line) => line.startsWith('ENTRYPOINT '))?.slice('ENTRYPOINT '.length);
  const entryPoint = JSON.parse(words ?? '[]') as string[];
  if (!/^(?:\/usr\/bin\/)?node$/.test(entryPoint[0] ?? ''))
    throw new Error(`the target ${name} does not start Node`);
  return {
    environment: Object.fromEntries(environment),
    entryPoint,
    nodeArguments: entryPoint.slice(1).flatMap((word) => {
      const [, program] = /^dist\/(.*)\.js$/.exec(word) ?? [];
      return program === undefined ? [word] : [...nodeFlags, moduleFile(`${program}.ts`)];
    }),
  };
}
