// @ts-check
/** How a shop's status is told: the form, and the part about messages that wait. */

/**
 * @typedef {{ tone: 'good' | 'calm' | 'warn' | 'bad', text: string, todo?: string }} Said
 */

/** @param {number} depth */
export function messages(depth) {
  return depth === 1 ? '1 message' : `${depth} messages`;
}

/** @param {number} depth */
export function waiting(depth) {
  return depth === 0 ? '' : ` ${messages(depth)} ${depth === 1 ? 'waits' : 'wait'}.`;
}
