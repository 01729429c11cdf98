import type { OperatorAccess } from './running-side.ts';

/** Reads all values of a node's `/metrics`, by name with labels. */
export async function metricsOf({ port, token }: OperatorAccess): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return new Map(
    (await response.text()).split('\n').flatMap((line) => {
      const [, name, value] = /^([a-z_]\w*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}
