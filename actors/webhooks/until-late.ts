import type { ArmedTimer, Clock } from '../../runtime/clock.ts';

/**
 * Runs pieces of work together. Resolves when all have ended, or `lateMs` after the first has begun, which each says by
 * `began`, or with `cut`: with what has ended by then, and with the end of each, in order. No piece may reject.
 */
export async function untilLate<Piece, End>(
  pieces: readonly Piece[],
  run: (piece: Piece, index: number, began: () => void) => Promise<End>,
  { clock, lateMs, cut }: { readonly clock: Clock; readonly lateMs: number; readonly cut: Promise<void> },
): Promise<{ readonly ended: ReadonlyMap<Piece, End>; readonly ends: readonly Promise<End>[] }> {
  const ended = new Map<Piece, End>();
  let ends: readonly Promise<End>[] = [];
  await new Promise<void>((resolve) => {
    let timer: ArmedTimer | undefined;
    const began = (): void => {
      timer ??= clock.after(lateMs, resolve);
    };
    ends = pieces.map(async (piece, index) => {
      const end = await run(piece, index, began);
      ended.set(piece, end);
      return end;
    });
    void Promise.race([Promise.all(ends), cut]).then(() => {
      timer?.cancel();
      resolve();
    });
  });
  return { ended: new Map(ended), ends };
}
