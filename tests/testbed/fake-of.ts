/**
 * A fake with these members of a type, and without its others. The compiler compares each given member with the type's.
 */
export function fakeOf<Whole extends object>(members: Partial<Whole>): Whole {
  return members as Whole;
}
