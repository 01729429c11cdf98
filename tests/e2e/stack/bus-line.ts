/** A test's faults of Redis' publications to one node. The node's other commands are not affected. */
export type BusFault = 'none' | 'lost' | 'doubled' | 'late';

const MESSAGE = /^[*>]3\r\n\$7\r\nmessage\r\n/;

/** True if a node subscribes on the connection from here on. */
export function subscribes(bytes: Buffer): boolean {
  return /^\*\d+\r\n\$9\r\nsubscribe\r\n/i.test(bytes.toString('latin1'));
}

/**
 * Returns the bytes from Redis that pass. Published messages are lost or come twice. All else, and an incomplete
 * message, is unchanged.
 */
export function published(bytes: Buffer, fault: BusFault): Buffer {
  if (fault !== 'lost' && fault !== 'doubled') return bytes;
  return isWholeMessages(bytes) ? Buffer.concat(fault === 'lost' ? [] : [bytes, bytes]) : bytes;
}

/** True if these are published messages from the first byte to the last. */
function isWholeMessages(bytes: Buffer): boolean {
  let rest = bytes.toString('latin1');
  while (MESSAGE.test(rest)) {
    rest = rest.replace(MESSAGE, '');
    for (const _part of ['channel', 'payload']) {
      const length = /^\$(\d+)\r\n/.exec(rest);
      if (length === null) return false;
      const end = length[0].length + Number(length[1]) + 2;
      if (rest.length < end) return false;
      rest = rest.slice(end);
    }
  }
  return rest === '';
}
