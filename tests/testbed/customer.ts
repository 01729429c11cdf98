/** Returns the number of a customer by its index, which is below 10,000. */
export function customer(index: number): string {
  return `+3362222${String(index).padStart(4, '0')}`;
}
