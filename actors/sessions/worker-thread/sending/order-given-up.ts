/** An order goes no further, though nothing failed: it was given up, or may not leave once more. */
export class OrderGivenUp extends Error {}
