import type { RunningSide } from '../../bench/harness/running-side.ts';
import { callAll } from '../../bench/load/http-calls.ts';

/**
 * Sends a message of each shop in each round, each with another text. `shops`: by default those of the side's fleet.
 */
export async function sendRounds(
  { ports: [port = 0], fleet }: Pick<RunningSide, 'ports' | 'fleet'>,
  { from, to, shops = fleet.shops }: RoundsOptions,
): Promise<{ readonly id: string }[]> {
  const rounds = Array.from({ length: to - from }, (_, index) => from + index);
  const calls = rounds.flatMap((round) =>
    shops.map(({ id, key }) => ({
      method: 'POST',
      path: `/api/v1/shops/${id}/messages`,
      token: key,
      body: {
        channel: 'msgapp',
        to: fleet.recipients[round],
        text: `Your order ${round} of shop ${id} is ready.`,
      },
    })),
  );
  return (await callAll(port, calls)) as { id: string }[];
}

/** The first round and the one behind the last. */
interface RoundsOptions {
  readonly from: number;
  readonly to: number;
  readonly shops?: RunningSide['fleet']['shops'];
}
