import { after, before } from 'node:test';
import { type ServiceStack, type StackOptions, startServiceStack } from './service-stack.ts';
import { connectShop } from './shop-steps.ts';

/**
 * Starts a stack before the tests of a file, and stops it after them. It is empty until then. `phone`: the number that
 * its shop is connected with. `prepare` runs once the stack is there.
 */
export function sharedStack(
  { phone, ...options }: StackOptions & { readonly phone?: string } = {},
  prepare: () => unknown = () => undefined,
): ServiceStack {
  const stack = {} as ServiceStack;
  before(async () => {
    Object.assign(stack, await startServiceStack(options));
    if (phone !== undefined) await connectShop(stack, stack.shopId, phone);
    await prepare();
  });
  after(() => stack.stop?.());
  return stack;
}
