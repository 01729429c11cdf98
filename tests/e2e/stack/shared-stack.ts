import { after, before } from 'node:test';
import { filledLater } from '../../testbed/filled-later.ts';
import { type ServiceStack, type StackOptions, startServiceStack } from './service-stack.ts';
import { connectShop } from './shop-steps.ts';

/**
 * Starts a stack before the tests of a file, and stops it after them. The stack is empty until then. Its shop is
 * connected if `phone` is given. `prepare` runs once the stack is filled.
 */
export function sharedStack(
  { phone, ...options }: StackOptions & { readonly phone?: string } = {},
  prepare: () => unknown = () => undefined,
): ServiceStack {
  const stack = filledLater<ServiceStack>('the stack');
  before(async () => {
    stack.fill(await startServiceStack(options));
    if (phone !== undefined) await connectShop(stack.value, stack.value.shopId, phone);
    await prepare();
  });
  after(() => stack.filled?.stop());
  return stack.value;
}
